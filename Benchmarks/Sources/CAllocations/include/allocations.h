/// The number of allocations by this process; -1 if they cannot be counted.
long allocation_count(void);
