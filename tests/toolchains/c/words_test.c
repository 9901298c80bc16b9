/* Threads, a child and a temporary file: what test suites in C are made of. */
#include "words.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *count(void *text) { return (void *)(size_t)count_words(text); }

int main(void) {
  pthread_t thread;
  void *words = NULL;
  char name[4096];
  int status = -1;
  if (pthread_create(&thread, NULL, count, "three small words") != 0) return 1;
  if (pthread_join(thread, &words) != 0 || (size_t)words != 3) return 2;

  const char *directory = getenv("TMPDIR");
  snprintf(name, sizeof name, "%s/words-XXXXXX", directory ? directory : "/tmp");
  const int fd = mkstemp(name);
  if (fd < 0 || write(fd, "x", 1) != 1 || unlink(name) != 0) return 3;

  const pid_t child = fork();
  if (child == 0) execlp("sh", "sh", "-c", "exit 7", (char *)NULL);
  if (child < 0 || waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7) return 4;
  puts("words: 3 tests passed");
  return 0;
}
