"""Parts of the documentation that are made of the program: options, settings, public names.

They stand in the pages between ``<!-- made: KIND NAME -->`` and ``<!-- end made -->``, so that a page can be
read where it lies. ``python docs/made/write.py`` renews them; a test holds them equal to what the program says.
"""
