// One endless TCP flow over a bottleneck with a drop-tail queue in ns-3. Prints one JSON object, and
// with --trace writes the congestion window over time.

#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>
#include <ns3/traffic-control-module.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

using namespace ns3;

namespace {

constexpr uint16_t PORT = 5000;

struct Counts {
    uint64_t drops = 0;
    uint64_t segments = 0;
    uint64_t retransmits = 0;
    uint32_t highest = 0;
    uint64_t timeouts = 0;
    uint64_t recoveries = 0;
    double rttSum = 0;
    uint64_t rttSamples = 0;
    double windowArea = 0;
    double windowSince = 0;
    uint32_t window = 0;
    std::ofstream trace;
    std::ofstream packets;
};

Counts counts;
double measureFrom = 10;

void onWindow(uint32_t, uint32_t window) {
    const double now = Simulator::Now().GetSeconds();
    if (now > measureFrom) {
        counts.windowArea += counts.window * (now - std::max(counts.windowSince, measureFrom));
    }
    counts.windowSince = now;
    counts.window = window;
    if (counts.trace.is_open()) {
        counts.trace << now << " cwnd " << window << "\n";
    }
}

void onThreshold(uint32_t, uint32_t threshold) {
    if (counts.trace.is_open()) {
        counts.trace << Simulator::Now().GetSeconds() << " ssthresh " << threshold << "\n";
    }
}

void onRtt(Time, Time rtt) {
    counts.rttSum += rtt.GetSeconds();
    counts.rttSamples += 1;
    if (counts.trace.is_open()) {
        counts.trace << Simulator::Now().GetSeconds() << " rtt " << rtt.GetMicroSeconds() << "\n";
    }
}

void onState(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t state) {
    counts.timeouts += state == TcpSocketState::CA_LOSS;
    counts.recoveries += state == TcpSocketState::CA_RECOVERY;
    if (counts.trace.is_open()) {
        counts.trace << Simulator::Now().GetSeconds() << " state " << int(state) << "\n";
    }
}

void onDrop(Ptr<const Packet> packet) {
    counts.drops += 1;
    if (counts.packets.is_open()) {
        counts.packets << Simulator::Now().GetSeconds() << " drop\n";
    }
}

void onQueueDiscDrop(Ptr<const Packet> packet) { onDrop(packet); }

void onTx(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>) {
    const uint32_t size = packet->GetSize();
    if (size == 0) {
        return;
    }
    counts.segments += 1;
    const uint32_t seq = header.GetSequenceNumber().GetValue();
    const bool again = seq < counts.highest;
    counts.retransmits += again;
    counts.highest = std::max(counts.highest, seq + size);
    if (counts.packets.is_open()) {
        counts.packets << Simulator::Now().GetSeconds() << (again ? " again " : " tx ") << seq << "\n";
    }
}

void onRx(Ptr<const Packet>, const TcpHeader& header, Ptr<const TcpSocketBase>) {
    if (counts.packets.is_open()) {
        counts.packets << Simulator::Now().GetSeconds() << " ack "
                       << header.GetAckNumber().GetValue();
        if (header.HasOption(TcpOption::SACK)) {
            Ptr<const TcpOptionSack> sack =
                DynamicCast<const TcpOptionSack>(header.GetOption(TcpOption::SACK));
            for (const auto& block : sack->GetSackList()) {
                counts.packets << " " << block.first.GetValue() << "-" << block.second.GetValue();
            }
        }
        counts.packets << "\n";
    }
}

/// Loses the first two transmissions of one segment at the receiver.
class TwiceLost : public ErrorModel {
  public:
    static TypeId GetTypeId() {
        static TypeId id = TypeId("TwiceLost").SetParent<ErrorModel>().AddConstructor<TwiceLost>();
        return id;
    }
    uint32_t seq = 0;

  private:
    bool DoCorrupt(Ptr<Packet> packet) override {
        Ptr<Packet> copy = packet->Copy();
        PppHeader ppp;
        Ipv4Header ip;
        TcpHeader tcp;
        copy->RemoveHeader(ppp);
        copy->RemoveHeader(ip);
        copy->RemoveHeader(tcp);
        lost += tcp.GetSequenceNumber().GetValue() == seq && lost < 3;
        return tcp.GetSequenceNumber().GetValue() == seq && lost < 3;
    }
    void DoReset() override { lost = 0; }
    uint32_t lost = 0;
};

void connect(std::string trace, bool packets) {
    const std::string socket = "/NodeList/0/$ns3::TcpL4Protocol/SocketList/0/";
    Config::ConnectWithoutContext(socket + "CongestionWindow", MakeCallback(&onWindow));
    Config::ConnectWithoutContext(socket + "SlowStartThreshold", MakeCallback(&onThreshold));
    Config::ConnectWithoutContext(socket + "RTT", MakeCallback(&onRtt));
    Config::ConnectWithoutContext(socket + "CongState", MakeCallback(&onState));
    Config::ConnectWithoutContext(socket + "Tx", MakeCallback(&onTx));
    Config::ConnectWithoutContext(socket + "Rx", MakeCallback(&onRx));
    if (!trace.empty()) {
        counts.trace.open(trace);
        counts.trace.precision(10);
        if (packets) {
            counts.packets.open(trace + ".packets");
            counts.packets.precision(10);
        }
    }
}

} // namespace

int main(int argc, char* argv[]) {
    std::string control = "TcpCubic";
    std::string rate = "50066667bps";
    std::string delay = "20ms";
    uint32_t queue = 173;
    double duration = 60;
    double start = 0;
    std::string trace;
    bool packets = false;
    bool attributes = false;
    uint32_t lose = 0;
    CommandLine command(__FILE__);
    command.AddValue("control", "type of the congestion control", control);
    command.AddValue("rate", "rate of the bottleneck", rate);
    command.AddValue("delay", "delay of the bottleneck, in each direction", delay);
    command.AddValue("queue", "packets that wait at the bottleneck", queue);
    command.AddValue("duration", "seconds", duration);
    command.AddValue("from", "where means start, in seconds", measureFrom);
    command.AddValue("start", "when the transfer starts, in milliseconds", start);
    command.AddValue("trace", "file for window, threshold, RTT and state", trace);
    command.AddValue("lose", "segment whose first two transmissions are lost", lose);
    command.AddValue("packets", "also write every segment", packets);
    command.AddValue("attributes", "print the defaults of TCP and end", attributes);
    command.Parse(argc, argv);
    if (attributes) {
        for (const std::string& name :
             {"ns3::TcpSocketBase", "ns3::TcpSocket", "ns3::TcpL4Protocol", "ns3::TcpCubic", "ns3::RttEstimator",
              "ns3::RttMeanDeviation", "ns3::TcpVegas", "ns3::TcpScalable", "ns3::TcpIllinois", "ns3::TcpHighSpeed",
              "ns3::TcpWestwood", "ns3::TcpPrrRecovery"}) {
            const TypeId id = TypeId::LookupByName(name);
            for (std::size_t i = 0; i < id.GetAttributeN(); ++i) {
                const auto attribute = id.GetAttribute(i);
                std::printf("%s::%s = %s\n", name.c_str(), attribute.name.c_str(),
                            attribute.initialValue->SerializeToString(attribute.checker).c_str());
            }
        }
        return 0;
    }
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::" + control)));
    Config::SetDefault("ns3::TcpWestwood::ProtocolType", StringValue("WestwoodPlus"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(16 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(16 << 20));

    NodeContainer nodes;
    nodes.Create(3);
    PointToPointHelper access;
    access.SetDeviceAttribute("DataRate", StringValue("10Gbps"));
    access.SetChannelAttribute("Delay", StringValue("0ms"));
    access.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("100000p"));
    PointToPointHelper bottleneck;
    bottleneck.SetDeviceAttribute("DataRate", StringValue(rate));
    bottleneck.SetChannelAttribute("Delay", StringValue(delay));
    bottleneck.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(std::to_string(queue) + "p"));
    const NetDeviceContainer near = access.Install(nodes.Get(0), nodes.Get(1));
    const NetDeviceContainer far = bottleneck.Install(nodes.Get(1), nodes.Get(2));
    // The way back loses nothing.
    DynamicCast<PointToPointNetDevice>(far.Get(1))->SetAttribute("DataRate", StringValue("10Gbps"));

    InternetStackHelper internet;
    internet.Install(nodes);
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.1.0", "255.255.255.0");
    addresses.Assign(near);
    addresses.SetBase("10.0.2.0", "255.255.255.0");
    const Ipv4InterfaceContainer interfaces = addresses.Assign(far);
    // No queue discipline above the devices.
    TrafficControlHelper traffic;
    traffic.Uninstall(near);
    traffic.Uninstall(far);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    far.Get(0)->GetObject<PointToPointNetDevice>()->GetQueue()->TraceConnectWithoutContext(
        "Drop", MakeCallback(&onDrop));
    nodes.Get(1)->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext(
        "TcDrop", MakeCallback(&onQueueDiscDrop));

    if (lose > 0) {
        Ptr<TwiceLost> errors = CreateObject<TwiceLost>();
        errors->seq = 1 + (lose - 1) * 1448;
        far.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
    }

    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
    ApplicationContainer sinks = sink.Install(nodes.Get(2));
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), PORT));
    source.SetAttribute("SendSize", UintegerValue(1448 * 10));
    ApplicationContainer sources = source.Install(nodes.Get(0));
    sources.Start(MicroSeconds(start * 1000));
    Simulator::Schedule(MicroSeconds(start * 1000 + 1), &connect, trace, packets);

    uint64_t before = 0;
    Ptr<PacketSink> receiver = DynamicCast<PacketSink>(sinks.Get(0));
    Simulator::Schedule(Seconds(measureFrom), [&] { before = receiver->GetTotalRx(); });
    Simulator::Stop(Seconds(duration));
    Simulator::Run();
    onWindow(0, counts.window);
    const double span = duration - measureFrom;
    std::printf("{\"goodput_mbps\": %.6f, \"drops\": %llu, \"segments\": %llu, \"retransmits\": %llu, "
                "\"recoveries\": %llu, \"timeouts\": %llu, \"window_pkts\": %.4f, \"rtt_ms\": %.4f}\n",
                double(receiver->GetTotalRx() - before) * 8 / span / 1e6,
                (unsigned long long)counts.drops, (unsigned long long)counts.segments,
                (unsigned long long)counts.retransmits, (unsigned long long)counts.recoveries,
                (unsigned long long)counts.timeouts, counts.windowArea / span / 1448,
                counts.rttSum / counts.rttSamples * 1e3);
    Simulator::Destroy();
    return 0;
}
