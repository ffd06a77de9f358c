// Downloads over a grid of wires in ns-3: 25 routers, three gateways to one router, a server behind
// it. Static routes along fewest hops; among equal ones to the neighbour with the lowest number, as
// Backlane has it. Prints one JSON object with the finish time of each download.

#include "cell.h"

#include <ns3/applications-module.h>
#include <ns3/point-to-point-module.h>
#include <ns3/traffic-control-module.h>

#include <array>
#include <deque>
#include <iomanip>

using namespace ns3;

namespace {

constexpr uint32_t SIDE = 5;
constexpr uint32_t CELLS = SIDE * SIDE;
constexpr uint32_t CORE = CELLS;
constexpr uint32_t SERVER = CELLS + 1;
constexpr std::array<uint32_t, 3> GATEWAYS{4, 14, 24};
constexpr uint16_t PORT = 5001;
/// A segment has 1392 bytes with its headers, and PPP adds two.
constexpr double PPP = 1394.0 / 1392.0;

struct Wire {
    uint32_t to;
    uint32_t interface;
    Ipv4Address far;
};

/// When a download starts: batches of 25, and a shift within 10 ms by flow and phase.
Time StartOf(uint32_t flow, uint32_t phase) {
    return Seconds(1 + 4 * (flow / CELLS)) + MilliSeconds(50 * (flow % CELLS)) +
           MicroSeconds(100 * ((37 * flow + 61 * phase) % 100));
}

}  // namespace

int main(int argc, char* argv[]) {
    uint32_t flows = 25;
    uint32_t phase = 0;
    uint32_t bytes = 10000000;
    double seconds = 200;
    CommandLine command(__FILE__);
    command.AddValue("flows", "number of downloads", flows);
    command.AddValue("phase", "of their starts", phase);
    command.AddValue("bytes", "of each download", bytes);
    command.AddValue("seconds", "simulated time at most", seconds);
    command.Parse(argc, argv);

    lena::ConfigureTcp("cubic", 1340, 2, 5000000);

    NodeContainer nodes(CELLS + 2);
    InternetStackHelper().Install(nodes);
    std::vector<std::vector<Wire>> wires(CELLS + 2);
    uint64_t drops = 0;
    uint64_t timeouts = 0;
    uint64_t recoveries = 0;
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    // Without a queue discipline, traffic control drops what a full device does not take.
    for (uint32_t node = 0; node < nodes.GetN(); ++node) {
        nodes.Get(node)->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext(
            "TcDrop", Callback<void, Ptr<const Packet>>([&](Ptr<const Packet>) { ++drops; }));
    }
    const auto join = [&](uint32_t a, uint32_t b, double rateBps, Time delay, uint32_t queueBytes) {
        PointToPointHelper helper;
        helper.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(rateBps * PPP))));
        helper.SetChannelAttribute("Delay", TimeValue(delay));
        helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize",
                        QueueSizeValue(QueueSize(QueueSizeUnit::BYTES, uint32_t(queueBytes * PPP))));
        auto devices = helper.Install(nodes.Get(a), nodes.Get(b));
        auto interfaces = addresses.Assign(devices);
        addresses.NewNetwork();
        TrafficControlHelper().Uninstall(devices);
        wires[a].push_back({b, interfaces.Get(0).second, interfaces.GetAddress(1)});
        wires[b].push_back({a, interfaces.Get(1).second, interfaces.GetAddress(0)});
    };
    for (uint32_t cell = 0; cell < CELLS; ++cell) {
        if (cell % SIDE + 1 < SIDE) {
            join(cell, cell + 1, 500e6, MilliSeconds(4), 500000);
        }
        if (cell + SIDE < CELLS) {
            join(cell, cell + SIDE, 500e6, MilliSeconds(4), 500000);
        }
    }
    for (uint32_t gateway : GATEWAYS) {
        join(gateway, CORE, 1e9, MicroSeconds(500), 125000);
    }
    join(CORE, SERVER, 10e9, MilliSeconds(5), 12500000);

    // A node has the address of its first wire.
    const auto addressOf = [&](uint32_t node) {
        return nodes.Get(node)->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
    };
    Ipv4StaticRoutingHelper routes;
    for (uint32_t exit = 0; exit < CELLS + 2; ++exit) {
        if (exit == CORE) {
            continue;
        }
        std::vector<uint32_t> hops(CELLS + 2, UINT32_MAX);
        std::deque<uint32_t> frontier{exit};
        hops[exit] = 0;
        while (!frontier.empty()) {
            const uint32_t at = frontier.front();
            frontier.pop_front();
            for (const Wire& wire : wires[at]) {
                if (hops[wire.to] == UINT32_MAX) {
                    hops[wire.to] = hops[at] + 1;
                    frontier.push_back(wire.to);
                }
            }
        }
        for (uint32_t node = 0; node < CELLS + 2; ++node) {
            const Wire* best = nullptr;
            for (const Wire& wire : wires[node]) {
                if (node != exit && hops[wire.to] + 1 == hops[node] &&
                    (!best || wire.to < best->to)) {
                    best = &wire;
                }
            }
            if (best) {
                routes.GetStaticRouting(nodes.Get(node)->GetObject<Ipv4>())
                    ->AddHostRouteTo(addressOf(exit), best->far, best->interface);
            }
        }
    }

    std::vector<double> finish(flows, -1);
    std::vector<uint64_t> received(flows, 0);
    uint32_t open = flows;
    for (uint32_t flow = 0; flow < flows; ++flow) {
        const uint32_t cell = flow % CELLS;
        const uint16_t port = PORT + flow / CELLS;
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), port));
        auto sinks = sink.Install(nodes.Get(cell));
        const Time start = StartOf(flow, phase);
        sinks.Get(0)->TraceConnectWithoutContext(
            "Rx", Callback<void, Ptr<const Packet>, const Address&>(
                      [&, flow, start](Ptr<const Packet> packet, const Address&) {
                          received[flow] += packet->GetSize();
                          if (received[flow] >= bytes && finish[flow] < 0) {
                              finish[flow] = (Simulator::Now() - start).GetSeconds();
                              if (--open == 0) {
                                  Simulator::Stop();
                              }
                          }
                      }));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(addressOf(cell), port));
        bulk.SetAttribute("SendSize", UintegerValue(13400));
        bulk.SetAttribute("MaxBytes", UintegerValue(bytes));
        bulk.Install(nodes.Get(SERVER)).Start(start);
    }

    // Sockets in the order of the flows, which start in that order within 10 ms of each other.
    for (uint32_t flow = 0; flow < flows; ++flow) {
        Simulator::Schedule(StartOf(flow, phase) + MicroSeconds(1), [&timeouts, &recoveries, flow] {
            Config::ConnectWithoutContext(
                "/NodeList/" + std::to_string(SERVER) + "/$ns3::TcpL4Protocol/SocketList/" +
                    std::to_string(flow) + "/CongState",
                Callback<void, TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t>(
                    [&](TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t state) {
                        timeouts += state == TcpSocketState::CA_LOSS;
                        recoveries += state == TcpSocketState::CA_RECOVERY;
                    }));
        });
    }

    Simulator::Stop(Seconds(seconds));
    const double cpuBefore = lena::CpuSeconds();
    Simulator::Run();
    double sum = 0;
    for (double one : finish) {
        sum += one < 0 ? seconds : one;
    }
    std::cout << std::setprecision(9);
    {
        lena::Json json;
        json.Add("finish_mean_s", sum / flows);
        json.Add("finish_max_s", *std::max_element(finish.begin(), finish.end()));
        json.Add("unfinished", open);
        json.Add("drops", drops);
        json.Add("timeouts", timeouts);
        json.Add("recoveries", recoveries);
        json.Add("cpu_s", lena::CpuSeconds() - cpuBefore);
    }
    Simulator::Destroy();
    return 0;
}
