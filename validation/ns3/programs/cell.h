// What both programs need: how a transfer over LENA is set up and what a run cost.

#pragma once

#include <sys/resource.h>

#include <ns3/core-module.h>
#include <ns3/internet-module.h>

#include <iostream>
#include <map>
#include <string>

namespace lena {



/// CPU seconds of the process, user and system.
inline double CpuSeconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) { return t.tv_sec + t.tv_usec * 1e-6; };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// The most memory that the process has had, in MB.
inline double PeakMegabytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024.0;
}

/// TCP as Backlane's scenarios of this comparison have it: 1448 bytes in a segment, ten segments
/// at first, buffers that never limit.
inline void ConfigureTcp(const std::string& control, uint32_t segmentBytes, uint32_t initialPkts,
                         uint32_t bufferBytes) {
    using namespace ns3;
    const std::map<std::string, std::string> types{{"cubic", "ns3::TcpCubic"},
                                                   {"newreno", "ns3::TcpNewReno"},
                                                   {"linuxreno", "ns3::TcpLinuxReno"}};
    Config::SetDefault("ns3::TcpL4Protocol::SocketType",
                       TypeIdValue(TypeId::LookupByName(types.at(control))));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segmentBytes));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(initialPkts));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(bufferBytes));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(bufferBytes));
}

/// One JSON object, written member by member.
class Json {
  public:
    Json() { std::cout << "{"; }
    ~Json() { std::cout << "}" << std::endl; }
    Json(const Json&) = delete;
    Json& operator=(const Json&) = delete;

    template <typename T>
    void Add(const std::string& name, T value) {
        std::cout << (first ? "" : ", ") << '"' << name << "\": " << value;
        first = false;
    }

  private:
    bool first = true;
};

}  // namespace lena
