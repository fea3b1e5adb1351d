#define _GNU_SOURCE
#include "log.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_log.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char last[512]; // the last line that said something
static int capturing;

static ssize_t log_write(void *cookie, const char *text, size_t len)
{
	size_t n = len < sizeof last - 1 ? len : sizeof last - 1;
	(void)cookie;
	pthread_mutex_lock(&lock);
	if (!capturing) {
		if (write(STDERR_FILENO, text, len) < 0) {
			// A closed stderr is no reason to fail.
		}
	} else if (n > 1) {
		memcpy(last, text, n);
		last[n] = 0;
	}
	pthread_mutex_unlock(&lock);
	return (ssize_t)len;
}

void log_capture(void)
{
	static FILE *stream;

	pthread_mutex_lock(&lock);
	capturing = 1;
	last[0] = 0;
	pthread_mutex_unlock(&lock);
	if (stream == NULL) {
		stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = log_write});
		if (stream != NULL) {
			setvbuf(stream, NULL, _IOLBF, BUFSIZ);
			rte_openlog_stream(stream);
		}
	}
}

void log_release(void)
{
	pthread_mutex_lock(&lock);
	capturing = 0;
	pthread_mutex_unlock(&lock);
}

void log_last(char *to, int size)
{
	pthread_mutex_lock(&lock);
	snprintf(to, (size_t)size, "%s", last);
	pthread_mutex_unlock(&lock);
}

static void ignore(int sig) { (void)sig; }

static int kept[2] = {-1, -1}; // stdout and stderr while they are muted

void stdio_mute(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null < 0)
		return;
	fflush(stdout);
	for (int i = 0; i < 2; i++) {
		kept[i] = fcntl(STDOUT_FILENO + i, F_DUPFD_CLOEXEC, 3);
		if (kept[i] >= 0)
			dup2(null, STDOUT_FILENO + i);
	}
	close(null);
}

void stdio_restore(void)
{
	fflush(stdout);
	for (int i = 0; i < 2; i++) {
		if (kept[i] < 0)
			continue;
		dup2(kept[i], STDOUT_FILENO + i);
		close(kept[i]);
		kept[i] = -1;
	}
}

// net_tap looks for a real-time signal nobody handles and has the kernel send it for every packet that waits. Its
// handler would run on whichever Go thread gets the signal, on a goroutine's small stack (no SA_ONSTACK), and write
// past its end. Without a free signal net_tap reads the descriptor instead, which is what we want: we sleep in poll(2).
void claim_signals(void)
{
	for (int sig = SIGRTMIN; sig <= SIGRTMAX; sig++) {
		struct sigaction now, ours;

		memset(&ours, 0, sizeof ours);
		ours.sa_handler = ignore;
		ours.sa_flags = SA_ONSTACK | SA_RESTART;
		if (sigaction(sig, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
			sigaction(sig, &ours, NULL);
	}
}
