/* Loaded before a server (LD_PRELOAD), counts what waits for the disk into the file that FLUSH_COUNT names. */
