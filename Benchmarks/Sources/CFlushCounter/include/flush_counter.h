/* Counts the calls that wait for the disk, in the file FLUSH_COUNT. Load it into a server with LD_PRELOAD. */
