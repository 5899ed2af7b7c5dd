"""What tests of this package and of plugins use: fakes, builders and contract suites."""
