// What DPDK says while it starts or opens a port, kept for one sentence of ours; and signals kept out of DPDK's hands.
#ifndef SLUICE_LOG_H
#define SLUICE_LOG_H

void log_capture(void); // from here on lines are kept instead of being printed
void log_release(void); // from here on lines are printed to stderr
void log_last(char *to, int size);

// EAL prints its usage and its last words itself: between these two, stdout and stderr lead nowhere.
void stdio_mute(void);
void stdio_restore(void);

void claim_signals(void);

#endif
