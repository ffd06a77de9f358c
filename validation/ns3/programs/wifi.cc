// Stations of 802.11 in ns-3, without access points or QoS: around one receiver, with the receiver
// between two that do not hear each other, or in a chain. Prints one JSON object.
//
// UDP work is MSDUs straight on the device, so that neither ARP nor a header is between the two
// simulators; `size` is the MSDU without LLC.

#include "cell.h"

#include <ns3/aodv-module.h>
#include <ns3/applications-module.h>
#include <ns3/mobility-module.h>
#include <ns3/network-module.h>
#include <ns3/olsr-module.h>
#include <ns3/propagation-module.h>
#include <ns3/traffic-control-module.h>
#include <ns3/wifi-module.h>

#include <cmath>
#include <vector>

using namespace ns3;

namespace {

/// What is counted after the warm-up: frames sent by kind, and payload that came. Packets of
/// routing protocols, and when the first packet of the flow came, count from the start.
struct Meter {
    bool Counts() const { return Simulator::Now() >= warmUp; }

    void OnSent(Ptr<const Packet> frame, double) {
        WifiMacHeader header;
        frame->PeekHeader(header);
        if (header.IsData() && watchesRouting) {
            routing += IsRouting(frame->Copy());
        }
        if (!Counts()) {
            return;
        }
        if (header.IsData()) {
            ++data;
        } else if (header.IsRts()) {
            ++rts;
        } else if (header.IsCts()) {
            ++cts;
        } else if (header.IsAck()) {
            ++ack;
        }
    }

    /// AODV's and OLSR's ports.
    static bool IsRouting(Ptr<Packet> frame) {
        WifiMacHeader mac;
        LlcSnapHeader llc;
        Ipv4Header ip;
        UdpHeader udp;
        frame->RemoveHeader(mac);
        frame->RemoveHeader(llc);
        frame->RemoveHeader(ip);
        frame->PeekHeader(udp);
        const uint16_t port = udp.GetDestinationPort();
        return ip.GetProtocol() == 17 && (port == 654 || port == 698);
    }

    void OnReceived(Ptr<const Packet> packet, const Address&) {
        if (first.IsZero()) {
            first = Simulator::Now();
        }
        if (Counts()) {
            bytes += packet->GetSize();
        }
    }

    void OnDropped(WifiMacDropReason reason, Ptr<const WifiMpdu>) {
        if (Counts()) {
            givenUp += reason == WIFI_MAC_DROP_REACHED_RETRY_LIMIT;
            expired += reason == WIFI_MAC_DROP_EXPIRED_LIFETIME;
            refused += reason == WIFI_MAC_DROP_FAILED_ENQUEUE;
        }
    }

    Time warmUp;
    Time first;
    bool watchesRouting = false;
    uint64_t routing = 0;
    uint64_t data = 0;
    uint64_t rts = 0;
    uint64_t cts = 0;
    uint64_t ack = 0;
    uint64_t bytes = 0;
    uint64_t givenUp = 0;
    uint64_t expired = 0;
    uint64_t refused = 0;
};

}  // namespace

int main(int argc, char* argv[]) {
    std::string shape = "star";
    std::string standard = "a";
    std::string rate = "54";
    std::string control = "24";
    std::string transport = "udp";
    std::string routing = "static";
    uint32_t stations = 10;
    uint32_t size = 1500;
    uint32_t queue = 100;
    uint32_t run = 1;
    bool rts = false;
    double offered = 40e6;
    double spacing = 1.0;
    double exponent = 3.0;
    double sensitivity = -82.0;
    double carrierSense = -82.0;
    double fading = 0.0;
    double seconds = 11.0;
    double warmUp = 1.0;
    double flowStart = 0.1;
    double maxDelay = 1000.0;
    bool arp = false;

    CommandLine command(__FILE__);
    command.AddValue("shape", "star, hidden or chain", shape);
    command.AddValue("standard", "a or b", standard);
    command.AddValue("rate", "of data, in Mbit/s", rate);
    command.AddValue("control", "rate of RTS, in Mbit/s; answers go by ns-3's rule", control);
    command.AddValue("transport", "udp or tcp, over a chain", transport);
    command.AddValue("routing", "static, aodv or olsr, over a chain", routing);
    command.AddValue("flowStart", "of the flow over a chain, in seconds", flowStart);
    command.AddValue("stations", "senders around the receiver, or hops of the chain", stations);
    command.AddValue("size", "of an MSDU without LLC, in bytes", size);
    command.AddValue("queue", "of each station, in packets", queue);
    command.AddValue("maxDelay", "of a packet that waits, in seconds", maxDelay);
    command.AddValue("arp", "addresses are asked for, over a chain", arp);
    command.AddValue("run", "of the random numbers", run);
    command.AddValue("rts", "RTS and CTS before all data", rts);
    command.AddValue("offered", "by each sender of UDP, in bit/s", offered);
    command.AddValue("spacing", "between neighbours, in metres", spacing);
    command.AddValue("exponent", "of the path loss", exponent);
    command.AddValue("sensitivity", "at which a preamble is found, in dBm", sensitivity);
    command.AddValue("carrierSense", "at which the air is busy, in dBm", carrierSense);
    command.AddValue("fading", "Nakagami's m, 0 for none", fading);
    command.AddValue("seconds", "simulated time", seconds);
    command.AddValue("warmUp", "seconds that do not count", warmUp);
    command.Parse(argc, argv);
    RngSeedManager::SetRun(run);
    const bool isTcp = transport == "tcp";
    const bool isChain = shape == "chain";
    const bool isA = standard == "a";

    const auto mode = [&](const std::string& mbps) {
        std::string name = mbps;
        if (name.find('.') != std::string::npos) {
            name[name.find('.')] = '_';
        }
        return WifiMode((isA ? "OfdmRate" : "DsssRate") + name + "Mbps");
    };

    NodeContainer nodes(shape == "hidden" ? 3 : stations + 1);
    MobilityHelper place;
    auto where = CreateObject<ListPositionAllocator>();
    for (uint32_t index = 0; index < nodes.GetN(); ++index) {
        if (shape == "star") {
            // The receiver in the middle and the senders on a circle around it.
            const double angle = 2 * M_PI * index / stations;
            where->Add(index == 0 ? Vector(0, 0, 0)
                                  : Vector(spacing * std::cos(angle), spacing * std::sin(angle), 0));
        } else {
            where->Add(Vector(spacing * index, 0, 0));
        }
    }
    place.SetPositionAllocator(where);
    place.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    place.Install(nodes);

    auto channel = CreateObject<YansWifiChannel>();
    auto loss = CreateObject<LogDistancePropagationLossModel>();
    loss->SetPathLossExponent(exponent);
    loss->SetReference(1.0, isA ? 46.73 : 40.18);
    if (fading > 0) {
        auto nakagami = CreateObject<NakagamiPropagationLossModel>();
        for (const auto* name : {"m0", "m1", "m2"}) {
            nakagami->SetAttribute(name, DoubleValue(fading));
        }
        loss->SetNext(nakagami);
    }
    channel->SetPropagationLossModel(loss);
    channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());

    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold",
                       UintegerValue(rts ? 0 : 65535));
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSsrc", UintegerValue(7));
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSlrc", UintegerValue(4));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(PACKETS, queue)));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(maxDelay)));
    Config::SetDefault("ns3::ThresholdPreambleDetectionModel::MinimumRssi",
                       DoubleValue(sensitivity));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel);
    phy.SetErrorRateModel("ns3::NistErrorRateModel");
    phy.Set("TxPowerStart", DoubleValue(16.0));
    phy.Set("TxPowerEnd", DoubleValue(16.0));
    phy.Set("RxNoiseFigure", DoubleValue(7.0));
    phy.Set("CcaEdThreshold", DoubleValue(carrierSense));
    phy.Set("RxSensitivity", DoubleValue(-120.0));
    WifiHelper wifi;
    wifi.SetStandard(isA ? WIFI_STANDARD_80211a : WIFI_STANDARD_80211b);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode",
                                 StringValue(mode(rate).GetUniqueName()), "ControlMode",
                                 StringValue(mode(control).GetUniqueName()), "NonUnicastMode",
                                 WifiModeValue(mode(isA ? "6" : "1")));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(false));
    auto devices = wifi.Install(phy, mac, nodes);
    wifi.AssignStreams(devices, 1000);
    Meter meter;
    meter.warmUp = Seconds(warmUp);
    for (uint32_t index = 0; index < devices.GetN(); ++index) {
        auto device = DynamicCast<WifiNetDevice>(devices.Get(index));
        device->GetPhy()->TraceConnectWithoutContext("PhyTxBegin",
                                                     MakeCallback(&Meter::OnSent, &meter));
        device->GetMac()->TraceConnectWithoutContext("DroppedMpdu",
                                                     MakeCallback(&Meter::OnDropped, &meter));
    }

    Ptr<PacketSink> chainSink;
    if (isChain) {
        // Before the stack, which reads the congestion control as it is installed.
        lena::ConfigureTcp("cubic", size - 52, 10, 4 << 20);
        InternetStackHelper internet;
        // RFC 3561's values are ns-3's defaults. Over 802.11 the link layer tells of lost links.
        AodvHelper aodv;
        aodv.Set("EnableHello", BooleanValue(false));
        OlsrHelper olsr;
        if (routing == "aodv") {
            internet.SetRoutingHelper(aodv);
        } else if (routing == "olsr") {
            internet.SetRoutingHelper(olsr);
        }
        meter.watchesRouting = routing != "static";
        internet.Install(nodes);
        Ipv4AddressHelper addresses("10.1.0.0", "255.255.255.0");
        auto interfaces = addresses.Assign(devices);
        if (!arp) {
            NeighborCacheHelper().PopulateNeighborCache();
        }
        // The queue of the device alone, without FqCoDel above it.
        TrafficControlHelper().Uninstall(devices);
        Ipv4StaticRoutingHelper routes;
        const uint32_t last = nodes.GetN() - 1;
        for (uint32_t index = 0; routing == "static" && index <= last; ++index) {
            auto table = routes.GetStaticRouting(nodes.Get(index)->GetObject<Ipv4>());
            for (uint32_t end = 0; end <= last; ++end) {
                if (end != index) {
                    const uint32_t next = end > index ? index + 1 : index - 1;
                    table->AddHostRouteTo(interfaces.GetAddress(end), interfaces.GetAddress(next),
                                          1);
                }
            }
        }
        const uint16_t port = 5001;
        const std::string factory = isTcp ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory";
        PacketSinkHelper sinks(factory, InetSocketAddress(Ipv4Address::GetAny(), port));
        chainSink = sinks.Install(nodes.Get(last)).Get(0)->GetObject<PacketSink>();
        chainSink->TraceConnectWithoutContext("Rx", MakeCallback(&Meter::OnReceived, &meter));
        const InetSocketAddress to(interfaces.GetAddress(last), port);
        if (isTcp) {
            BulkSendHelper bulk(factory, to);
            bulk.Install(nodes.Get(0)).Start(Seconds(flowStart));
        } else {
            UdpClientHelper stream(to);
            stream.SetAttribute("PacketSize", UintegerValue(size - 28));
            stream.SetAttribute("MaxPackets", UintegerValue(UINT32_MAX));
            stream.SetAttribute("Interval", TimeValue(Seconds(8.0 * size / offered)));
            stream.Install(nodes.Get(0)).Start(Seconds(flowStart));
        }
    } else {
        PacketSocketHelper sockets;
        sockets.Install(nodes);
        const uint32_t receiver = shape == "hidden" ? 1 : 0;
        PacketSocketAddress to;
        to.SetPhysicalAddress(devices.Get(receiver)->GetAddress());
        to.SetProtocol(1);
        auto begin = CreateObject<UniformRandomVariable>();
        for (uint32_t index = 0; index < nodes.GetN(); ++index) {
            if (index == receiver) {
                continue;
            }
            to.SetSingleDevice(devices.Get(index)->GetIfIndex());
            auto sender = CreateObject<PacketSocketClient>();
            sender->SetRemote(to);
            sender->SetAttribute("PacketSize", UintegerValue(size));
            sender->SetAttribute("MaxPackets", UintegerValue(0));
            sender->SetAttribute("Interval", TimeValue(Seconds(8.0 * size / offered)));
            sender->SetStartTime(Seconds(begin->GetValue(0.0, 0.01)));
            nodes.Get(index)->AddApplication(sender);
        }
        PacketSocketAddress local = to;
        local.SetSingleDevice(devices.Get(receiver)->GetIfIndex());
        auto sink = CreateObject<PacketSocketServer>();
        sink->SetLocal(local);
        sink->TraceConnectWithoutContext("Rx", MakeCallback(&Meter::OnReceived, &meter));
        nodes.Get(receiver)->AddApplication(sink);
    }

    uint64_t before = 0;
    Simulator::Schedule(meter.warmUp, [&] { before = chainSink ? chainSink->GetTotalRx() : 0; });
    Simulator::Stop(Seconds(seconds));
    const double cpuBefore = lena::CpuSeconds();
    Simulator::Run();
    const double cpu = lena::CpuSeconds() - cpuBefore;
    const uint64_t bytes = chainSink ? chainSink->GetTotalRx() - before : meter.bytes;

    {
        lena::Json json;
        json.Add("goodput_bps", 8.0 * bytes / (seconds - warmUp));
        json.Add("data", meter.data);
        json.Add("rts", meter.rts);
        json.Add("cts", meter.cts);
        json.Add("ack", meter.ack);
        json.Add("given_up", meter.givenUp);
        json.Add("expired", meter.expired);
        json.Add("refused", meter.refused);
        if (meter.watchesRouting) {
            json.Add("first_s", meter.first.GetSeconds() - flowStart);
            json.Add("routing_packets", meter.routing);
        }
        json.Add("events", Simulator::GetEventCount());
        json.Add("cpu_s", cpu);
        json.Add("memory_mb", lena::PeakMegabytes());
    }
    Simulator::Destroy();
    return 0;
}
