#pragma once
#include <pthread.h>

#include <csignal>
#include <thread>
#include <utility>

namespace hipgraph::shmem {

/// A thread that takes no signal of the process: those are for the user's threads.
template <class Body>
std::thread start_thread(Body&& body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread started(std::forward<Body>(body));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace hipgraph::shmem
