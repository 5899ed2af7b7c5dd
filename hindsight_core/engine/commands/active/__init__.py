"""The slash commands of active memory, under the names that users of the plugin know."""
