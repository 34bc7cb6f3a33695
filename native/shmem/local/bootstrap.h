#pragma once
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "message.h"
#include "pe_mask.h"
#include "service.h"
#include "socket.h"
#include "unique_id.h"

namespace hipgraph::shmem {

/// Opens the listener of a new world in this process, which waits for hgs_init; its id.
UniqueId open_bootstrap();

/// A PE's connection with the others, through the service of PE 0.
class Bootstrap {
 public:
  /// Comes together with all PEs; a single PE needs no id.
  Bootstrap(int pe, int n_pes, const unsigned char* id, std::chrono::milliseconds timeout);
  /// Says goodbye.
  ~Bootstrap();
  Bootstrap(const Bootstrap&) = delete;
  Bootstrap& operator=(const Bootstrap&) = delete;

  /// What all members of a call bring to it, by PE. Waits for them as long as the timeout; other
  /// threads may be in other calls.
  std::vector<Contribution> gather(const CallKey& key, Contribution contribution);
  /// PEs that died or left, as bits.
  PeMask lost();
  /// What is known about the first of these PEs that died or left.
  std::string lost_text(PeMask pes);

 private:
  void join(const UniqueId& id);
  void receive();
  void take(Message message);
  void end(const std::string& why);

  int pe_, n_pes_;
  std::chrono::milliseconds timeout_;
  std::unique_ptr<Service> service_;  ///< of PE 0
  Socket socket_;
  std::mutex mutex_, send_mutex_;
  std::condition_variable changed_;
  std::map<CallKey, Message> answers_;
  std::map<int, std::string> lost_;
  Message welcome_;     ///< or a refusal; a hello before it came
  std::string ended_;   ///< why the connection is no more
  std::thread thread_;  ///< the receiver; last, for it uses all others
};

}  // namespace hipgraph::shmem
