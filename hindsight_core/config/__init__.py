"""Configuration: settings, their layers and origins, bank identity, trust."""
