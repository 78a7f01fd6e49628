/// How often this process has asked for memory; -1 where that can't be counted.
long allocation_count(void);
