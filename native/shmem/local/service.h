#pragma once
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "calls.h"
#include "message.h"
#include "pe_mask.h"
#include "socket.h"
#include "unique_id.h"

namespace hipgraph::shmem {

/// The thread in PE 0's process that every PE talks to, PE 0 too: it brings together who takes part
/// in a collective call, and tells everybody at once when somebody died. So no PE has to be in a
/// call for others to finish theirs.
class Service {
 public:
  Service(Socket listener, const UniqueId& id, int n_pes, std::chrono::milliseconds timeout);
  /// Waits a moment until every PE has left, then stops.
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

 private:
  struct Connection {
    Socket socket;
    std::string received;
    int pe = -1;  ///< unknown before its hello
    std::uint32_t process = 0;
    bool closed = false;
  };

  void run();
  int milliseconds_to_wait() const;
  bool complete() const { return joined_ == first_pes(n_pes_); }
  void accept_newcomers();
  void read(Connection& connection);
  void handle(Connection& connection, const Message& message);
  void join(Connection& connection, const Hello& hello);
  std::string objection(const Hello& hello) const;
  void part(Connection& connection, bool in_peace);
  void refuse_everybody(hgs_status status, const std::string& why);
  void check_deadlines();
  void send(Connection& connection, const Message& message);
  void send_all(const std::vector<Answer>& answers);

  Socket listener_;
  Socket stop_;  ///< an eventfd
  UniqueId id_;
  int n_pes_;
  std::chrono::milliseconds timeout_;
  Clock::time_point deadline_;
  std::vector<Connection> connections_;
  Calls calls_;
  PeMask joined_ = 0, parted_ = 0;
  Message refusal_;  ///< its status tells whether there is one
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace hipgraph::shmem
