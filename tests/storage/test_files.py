from __future__ import annotations

import os

import pytest

from hindsight_core.folders import private_folder
from hindsight_core.storage.files import make_room


@pytest.fixture(autouse=True)
def usual_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_every_folder_that_is_created_is_private(tmp_path):
    make_room(tmp_path / "home" / "banks" / "shop.db")
    for folder in (tmp_path / "home", tmp_path / "home" / "banks"):
        assert folder.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_is_there_keeps_its_mode(tmp_path):
    (tmp_path / "home").mkdir(mode=0o755)
    private_folder(tmp_path / "home" / "logs")
    assert (tmp_path / "home").stat().st_mode & 0o777 == 0o755


def test_a_file_in_the_way_is_an_error(tmp_path):
    (tmp_path / "home").write_text("x")
    with pytest.raises(FileExistsError):
        private_folder(tmp_path / "home")
