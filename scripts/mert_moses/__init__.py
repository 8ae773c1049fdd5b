"""`lasw-mert-moses`: takes the command line of Moses' mert-moses.pl, leaves the same files, needs no Perl."""
