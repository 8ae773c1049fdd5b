"""The command line: parse, call, print. No algorithm lives here."""
