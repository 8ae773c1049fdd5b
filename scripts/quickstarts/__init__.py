"""`lasw quickstart`: a translation system from parallel text, or rerankers on lists that come with the program."""
