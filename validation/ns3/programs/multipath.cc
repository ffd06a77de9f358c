// Three paths of two, three and four hops of 802.11a between S and R in ns-3, each link on a channel
// of its own; both ends spread what they send over the paths. Prints one JSON object, and writes the
// numbers of the packets that came to a file.
//
// The ends go by L2.5R's rule with equal flow rates: a packet goes to the neighbour that was handed
// the fewest bytes, one of several drawn at random; where a flow is pinned, that is its first
// packet's neighbour.

#include "cell.h"

#include <ns3/applications-module.h>
#include <ns3/mobility-module.h>
#include <ns3/network-module.h>
#include <ns3/propagation-module.h>
#include <ns3/traffic-control-module.h>
#include <ns3/wifi-module.h>

#include <algorithm>
#include <fstream>
#include <vector>

using namespace ns3;

namespace {

constexpr uint8_t TCP = 6;
/// Hops of each path.
const std::map<char, uint32_t> PATHS{{'a', 2}, {'b', 3}, {'c', 4}};

/// The number that a packet has among those of its flow, in the order in which they left.
class NumberTag : public Tag {
  public:
    static TypeId GetTypeId() {
        static TypeId id = TypeId("NumberTag").SetParent<Tag>().AddConstructor<NumberTag>();
        return id;
    }
    TypeId GetInstanceTypeId() const override { return GetTypeId(); }
    uint32_t GetSerializedSize() const override { return 8; }
    void Serialize(TagBuffer buffer) const override {
        buffer.WriteU32(flow);
        buffer.WriteU32(number);
    }
    void Deserialize(TagBuffer buffer) override {
        flow = buffer.ReadU32();
        number = buffer.ReadU32();
    }
    void Print(std::ostream& out) const override { out << flow << ' ' << number; }

    uint32_t flow = 0;
    uint32_t number = 0;
};

/// What left an end of one flow, and what came from the other end.
struct Flow {
    uint32_t sent = 0;
    uint32_t retransmits = 0;
    SequenceNumber32 next{0};
    int pinned = -1;
};

/// The routing of an end: it sends over all paths, and forwards nothing.
class Spread : public Ipv4RoutingProtocol {
  public:
    Spread(bool pins, std::ostream* arrivals, int64_t stream) : pins(pins), arrivals(arrivals) {
        draw->SetStream(stream);
    }

    void AddPath(Ipv4Address gateway, uint32_t interface) {
        paths.push_back({gateway, interface, 0});
    }

    Ptr<Ipv4Route> RouteOutput(Ptr<Packet> packet, const Ipv4Header& header, Ptr<NetDevice>,
                               Socket::SocketErrno& error) override {
        error = Socket::ERROR_NOTERROR;
        // A socket asks without a packet for the address that it will have.
        const size_t chosen = packet ? Choose(packet, header) : 0;
        auto route = Create<Ipv4Route>();
        route->SetDestination(header.GetDestination());
        route->SetSource(ipv4->GetAddress(1, 0).GetLocal());
        route->SetGateway(paths[chosen].gateway);
        route->SetOutputDevice(ipv4->GetNetDevice(paths[chosen].interface));
        return route;
    }

    bool RouteInput(Ptr<const Packet> packet, const Ipv4Header& header, Ptr<const NetDevice> device,
                    UnicastForwardCallback, MulticastForwardCallback, LocalDeliverCallback deliver,
                    ErrorCallback) override {
        const auto interface = ipv4->GetInterfaceForDevice(device);
        if (!ipv4->IsDestinationAddress(header.GetDestination(), interface)) {
            return false;
        }
        NumberTag tag;
        if (arrivals && packet->PeekPacketTag(tag)) {
            *arrivals << tag.flow << ' ' << tag.number << '\n';
        }
        deliver(packet, header, interface);
        return true;
    }

    void NotifyInterfaceUp(uint32_t) override {}
    void NotifyInterfaceDown(uint32_t) override {}
    void NotifyAddAddress(uint32_t, Ipv4InterfaceAddress) override {}
    void NotifyRemoveAddress(uint32_t, Ipv4InterfaceAddress) override {}
    void SetIpv4(Ptr<Ipv4> node) override { ipv4 = node; }
    void PrintRoutingTable(Ptr<OutputStreamWrapper>, Time::Unit) const override {}

    /// By the port of the flow's sender, which is 0 for UDP.
    std::map<uint16_t, Flow> flows;

  private:
    struct Path {
        Ipv4Address gateway;
        uint32_t interface;
        uint64_t bytes;
    };

    size_t Choose(Ptr<Packet> packet, const Ipv4Header& header) {
        uint16_t port = 0;
        uint32_t bytes = packet->GetSize() + 20;
        SequenceNumber32 end{0};
        bool hasData = true;
        if (header.GetProtocol() == TCP) {
            TcpHeader tcp;
            const uint32_t length = packet->PeekHeader(tcp);
            port = std::max(tcp.GetSourcePort(), tcp.GetDestinationPort());
            hasData = packet->GetSize() > length;
            end = tcp.GetSequenceNumber() + (packet->GetSize() - length);
        } else {
            // UDP asks before it has put its header in front.
            bytes += 8;
        }
        Flow& flow = flows[port];
        if (hasData) {
            flow.retransmits += end <= flow.next;
            flow.next = std::max(flow.next, end);
        }
        NumberTag tag;
        tag.flow = port;
        tag.number = flow.sent++;
        packet->AddPacketTag(tag);
        size_t chosen = pins && flow.pinned >= 0 ? flow.pinned : Least();
        flow.pinned = chosen;
        paths[chosen].bytes += bytes;
        return chosen;
    }

    size_t Least() {
        uint64_t least = UINT64_MAX;
        std::vector<size_t> equal;
        for (size_t index = 0; index < paths.size(); ++index) {
            if (paths[index].bytes < least) {
                least = paths[index].bytes;
                equal.clear();
            }
            if (paths[index].bytes == least) {
                equal.push_back(index);
            }
        }
        return equal[draw->GetInteger(0, equal.size() - 1)];
    }

    bool pins;
    std::ostream* arrivals;
    Ptr<UniformRandomVariable> draw = CreateObject<UniformRandomVariable>();
    Ptr<Ipv4> ipv4;
    std::vector<Path> paths;
};

/// Drops before all queues, and how much one has held, with the frame that is being sent.
struct Queues {
    void OnDrop(Ptr<const Packet>) { ++drops; }
    void OnLength(uint32_t, uint32_t now) { longest = std::max(longest, now); }

    uint64_t drops = 0;
    uint32_t longest = 0;
};

}  // namespace

int main(int argc, char* argv[]) {
    std::string shape = "abc";
    std::string transport = "tcp";
    std::string control = "linuxreno";
    std::string arrivalsFile;
    bool pins = false;
    bool sack = true;
    uint32_t delayed = 2;
    uint32_t flows = 1;
    uint32_t queue = 51;
    uint32_t run = 1;
    double offered = 40e6;
    double seconds = 25.0;
    double warmUp = 5.0;

    CommandLine command(__FILE__);
    command.AddValue("paths", "those that are there, of a, b and c", shape);
    command.AddValue("transport", "udp or tcp", transport);
    command.AddValue("control", "linuxreno or newreno", control);
    command.AddValue("arrivals", "file for the numbers of what came, none if empty", arrivalsFile);
    command.AddValue("pins", "a flow keeps to a path in each direction", pins);
    command.AddValue("sack", "selective acknowledgments", sack);
    command.AddValue("delayed", "segments acknowledged together", delayed);
    command.AddValue("flows", "how many", flows);
    command.AddValue("queue", "of each device, in packets, with the one that is being sent", queue);
    command.AddValue("run", "of the random numbers", run);
    command.AddValue("offered", "by UDP, in bit/s of IP packets of 1500 bytes", offered);
    command.AddValue("seconds", "simulated time", seconds);
    command.AddValue("warmUp", "seconds that do not count for goodput", warmUp);
    command.Parse(argc, argv);
    RngSeedManager::SetRun(run);

    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(65535));
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSsrc", UintegerValue(7));
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSlrc", UintegerValue(7));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(PACKETS, queue)));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000)));
    lena::ConfigureTcp(control, 1448, 10, 4 << 20);
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(sack));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(delayed));

    Ptr<Node> sender = CreateObject<Node>();
    Ptr<Node> receiver = CreateObject<Node>();
    NodeContainer nodes(sender, receiver);
    std::vector<NodeContainer> chains;
    for (const char path : shape) {
        NodeContainer chain(sender);
        NodeContainer relays(PATHS.at(path) - 1);
        chain.Add(relays);
        chain.Add(receiver);
        nodes.Add(relays);
        chains.push_back(chain);
    }
    MobilityHelper place;
    place.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    place.Install(nodes);
    InternetStackHelper internet;
    internet.Install(nodes);

    std::ofstream file;
    if (!arrivalsFile.empty()) {
        file.open(arrivalsFile);
    }
    // What comes to the receiver is written down.
    auto out = CreateObject<Spread>(pins, nullptr, 1);
    auto back = CreateObject<Spread>(pins, file.is_open() ? &file : nullptr, 2);
    sender->GetObject<Ipv4>()->SetRoutingProtocol(out);
    receiver->GetObject<Ipv4>()->SetRoutingProtocol(back);

    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211a);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode",
                                 StringValue("OfdmRate54Mbps"), "ControlMode",
                                 StringValue("OfdmRate24Mbps"));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(false));
    Ipv4AddressHelper addresses("10.1.0.0", "255.255.255.252");
    Ipv4StaticRoutingHelper routes;
    Queues queues;
    int64_t streams = 1000;
    struct Hop {
        Ptr<Node> from;
        Ptr<Node> to;
        Ipv4InterfaceContainer ends;
    };
    std::vector<std::vector<Hop>> hops;
    for (const auto& chain : chains) {
        hops.emplace_back();
        for (uint32_t index = 0; index + 1 < chain.GetN(); ++index) {
            auto channel = CreateObject<YansWifiChannel>();
            // All stand at one place; nothing is lost but by collisions.
            auto loss = CreateObject<FixedRssLossModel>();
            loss->SetRss(-30.0);
            channel->SetPropagationLossModel(loss);
            channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
            YansWifiPhyHelper phy;
            phy.SetChannel(channel);
            phy.SetErrorRateModel("ns3::NistErrorRateModel");
            NodeContainer ends(chain.Get(index), chain.Get(index + 1));
            auto devices = wifi.Install(phy, mac, ends);
            streams += wifi.AssignStreams(devices, streams);
            hops.back().push_back({ends.Get(0), ends.Get(1), addresses.Assign(devices)});
            addresses.NewNetwork();
            for (uint32_t end = 0; end < 2; ++end) {
                auto held = DynamicCast<WifiNetDevice>(devices.Get(end))
                                ->GetMac()
                                ->GetTxopQueue(AC_BE_NQOS);
                held->TraceConnectWithoutContext("PacketsInQueue",
                                                 MakeCallback(&Queues::OnLength, &queues));
            }
            // The queue of the device alone, without FqCoDel above it.
            TrafficControlHelper().Uninstall(devices);
        }
    }
    for (uint32_t index = 0; index < nodes.GetN(); ++index) {
        // A queue that is full stops the layer above, which drops.
        nodes.Get(index)->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext(
            "TcDrop", MakeCallback(&Queues::OnDrop, &queues));
    }
    NeighborCacheHelper().PopulateNeighborCache();
    const Ipv4Address from = sender->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
    const Ipv4Address to = receiver->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
    for (const auto& path : hops) {
        out->AddPath(path.front().ends.GetAddress(1), path.front().ends.Get(0).second);
        back->AddPath(path.back().ends.GetAddress(0), path.back().ends.Get(1).second);
        for (size_t index = 0; index + 1 < path.size(); ++index) {
            const Hop& before = path[index];
            const Hop& after = path[index + 1];
            auto table = routes.GetStaticRouting(before.to->GetObject<Ipv4>());
            table->AddHostRouteTo(to, after.ends.GetAddress(1), after.ends.Get(0).second);
            table->AddHostRouteTo(from, before.ends.GetAddress(0), before.ends.Get(1).second);
        }
    }

    const bool isTcp = transport == "tcp";
    const std::string factory = isTcp ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory";
    const uint16_t port = 5001;
    PacketSinkHelper sinks(factory, InetSocketAddress(Ipv4Address::GetAny(), port));
    auto sink = sinks.Install(receiver).Get(0)->GetObject<PacketSink>();
    auto begin = CreateObject<UniformRandomVariable>();
    begin->SetStream(3);
    const InetSocketAddress where(to, port);
    for (uint32_t flow = 0; flow < flows; ++flow) {
        const Time start = Seconds(begin->GetValue(0.0, 1.0));
        if (isTcp) {
            BulkSendHelper(factory, where).Install(sender).Start(start);
        } else {
            UdpClientHelper stream(where);
            stream.SetAttribute("PacketSize", UintegerValue(1472));
            stream.SetAttribute("MaxPackets", UintegerValue(UINT32_MAX));
            stream.SetAttribute("Interval", TimeValue(Seconds(12000 / offered)));
            stream.Install(sender).Start(start);
        }
    }

    uint64_t before = 0;
    Simulator::Schedule(Seconds(warmUp), [&] { before = sink->GetTotalRx(); });
    Simulator::Stop(Seconds(seconds));
    const double cpuBefore = lena::CpuSeconds();
    Simulator::Run();
    const double cpu = lena::CpuSeconds() - cpuBefore;

    {
        uint64_t sent = 0;
        uint64_t retransmits = 0;
        for (const auto& [number, flow] : out->flows) {
            sent += flow.sent;
            retransmits += isTcp ? flow.retransmits : 0;
        }
        lena::Json json;
        json.Add("goodput_bps", 8.0 * (sink->GetTotalRx() - before) / (seconds - warmUp));
        json.Add("sent", sent);
        json.Add("retransmits", retransmits);
        json.Add("drops", queues.drops);
        json.Add("longest_queue", queues.longest);
        json.Add("events", Simulator::GetEventCount());
        json.Add("cpu_s", cpu);
        json.Add("memory_mb", lena::PeakMegabytes());
    }
    Simulator::Destroy();
    return 0;
}
