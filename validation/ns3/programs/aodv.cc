// A chain of 802.11b stations with AODV in ns-3, under load or with lossy links: what is lost, why,
// and how often routes are searched. Prints one JSON object.

#include "cell.h"

#include <ns3/aodv-module.h>
#include <ns3/applications-module.h>
#include <ns3/error-model.h>
#include <ns3/mobility-module.h>
#include <ns3/network-module.h>
#include <ns3/propagation-module.h>
#include <ns3/traffic-control-module.h>
#include <ns3/wifi-module.h>

using namespace ns3;

namespace {

/// Messages of AODV by type, as sent, and MPDUs that the MAC drops by reason.
struct Meter {
    void OnSent(Ptr<const Packet> frame, double) {
        WifiMacHeader mac;
        Ptr<Packet> copy = frame->Copy();
        copy->RemoveHeader(mac);
        if (!mac.IsData() || mac.IsRetry()) {
            return;
        }
        LlcSnapHeader llc;
        Ipv4Header ip;
        UdpHeader udp;
        copy->RemoveHeader(llc);
        copy->RemoveHeader(ip);
        if (ip.GetProtocol() != 17) {
            return;
        }
        copy->RemoveHeader(udp);
        if (udp.GetDestinationPort() != 654) {
            return;
        }
        aodv::TypeHeader type;
        copy->PeekHeader(type);
        requests += type.Get() == aodv::AODVTYPE_RREQ;
        errors += type.Get() == aodv::AODVTYPE_RERR;
    }

    void OnDropped(WifiMacDropReason reason, Ptr<const WifiMpdu>) {
        refused += reason == WIFI_MAC_DROP_FAILED_ENQUEUE;
        expired += reason == WIFI_MAC_DROP_EXPIRED_LIFETIME;
        given_up += reason == WIFI_MAC_DROP_REACHED_RETRY_LIMIT;
    }

    uint64_t requests = 0;
    uint64_t errors = 0;
    uint64_t refused = 0;
    uint64_t expired = 0;
    uint64_t given_up = 0;
};

}  // namespace

int main(int argc, char* argv[]) {
    std::string transport = "udp";
    std::string routing = "aodv";
    std::string rate = "2";
    uint32_t hops = 3;
    uint32_t size = 1000;
    uint32_t queue = 100;
    uint32_t run = 1;
    double offered = 2e6;
    double loss = 0.0;
    double spacing = 100.0;
    double lifetime = 1000.0;
    double seconds = 101.0;
    bool rts = true;
    bool hello = true;
    bool cache = false;

    CommandLine command(__FILE__);
    command.AddValue("transport", "udp or tcp", transport);
    command.AddValue("routing", "static or aodv", routing);
    command.AddValue("rate", "of data, in Mbit/s", rate);
    command.AddValue("hops", "of the chain", hops);
    command.AddValue("size", "of an IP packet, in bytes", size);
    command.AddValue("queue", "of each station, in packets", queue);
    command.AddValue("run", "of the random numbers", run);
    command.AddValue("offered", "by UDP, in bit/s", offered);
    command.AddValue("loss", "of a frame that arrives", loss);
    command.AddValue("spacing", "between neighbours, in metres", spacing);
    command.AddValue("lifetime", "of a frame in the queue, in seconds", lifetime);
    command.AddValue("seconds", "simulated time, the first not counted", seconds);
    command.AddValue("rts", "RTS and CTS before all data", rts);
    command.AddValue("hello", "HELLOs, ns-3's default", hello);
    command.AddValue("cache", "link addresses known from the start, without ARP", cache);
    command.Parse(argc, argv);
    RngSeedManager::SetRun(run);

    NodeContainer nodes(hops + 1);
    MobilityHelper place;
    auto where = CreateObject<ListPositionAllocator>();
    for (uint32_t index = 0; index <= hops; ++index) {
        where->Add(Vector(spacing * index, 0, 0));
    }
    place.SetPositionAllocator(where);
    place.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    place.Install(nodes);

    auto channel = CreateObject<YansWifiChannel>();
    // Neighbours alone decode each other; two hops are sensed.
    auto range = CreateObject<LogDistancePropagationLossModel>();
    range->SetPathLossExponent(3.0);
    range->SetReference(1.0, 40.18);
    channel->SetPropagationLossModel(range);
    channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());

    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold",
                       UintegerValue(rts ? 0 : 65535));
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSsrc", UintegerValue(7));
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSlrc", UintegerValue(4));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(PACKETS, queue)));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(lifetime)));
    const double twoHops = 16.0 - 40.18 - 30.0 * std::log10(2 * spacing);
    const double oneHop = 16.0 - 40.18 - 30.0 * std::log10(spacing);
    Config::SetDefault("ns3::ThresholdPreambleDetectionModel::MinimumRssi",
                       DoubleValue((oneHop + twoHops) / 2));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel);
    phy.SetErrorRateModel("ns3::NistErrorRateModel");
    phy.Set("TxPowerStart", DoubleValue(16.0));
    phy.Set("TxPowerEnd", DoubleValue(16.0));
    phy.Set("RxNoiseFigure", DoubleValue(7.0));
    phy.Set("CcaEdThreshold", DoubleValue(twoHops - 1.0));
    phy.Set("RxSensitivity", DoubleValue(-120.0));
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211b);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode",
                                 StringValue("DsssRate" + rate + "Mbps"), "ControlMode",
                                 StringValue("DsssRate1Mbps"), "NonUnicastMode",
                                 WifiModeValue(WifiMode("DsssRate1Mbps")));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(false));
    auto devices = wifi.Install(phy, mac, nodes);
    wifi.AssignStreams(devices, 1000);
    Meter meter;
    for (uint32_t index = 0; index < devices.GetN(); ++index) {
        auto device = DynamicCast<WifiNetDevice>(devices.Get(index));
        device->GetPhy()->TraceConnectWithoutContext("PhyTxBegin",
                                                     MakeCallback(&Meter::OnSent, &meter));
        device->GetMac()->TraceConnectWithoutContext("DroppedMpdu",
                                                     MakeCallback(&Meter::OnDropped, &meter));
        if (loss > 0) {
            auto errors = CreateObject<RateErrorModel>();
            errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
            errors->SetRate(loss);
            errors->AssignStreams(5000 + index);
            device->GetPhy()->SetPostReceptionErrorModel(errors);
        }
    }

    // Before the stack, which reads the congestion control as it is installed.
    lena::ConfigureTcp("cubic", size - 52, 10, 4 << 20);
    InternetStackHelper internet;
    AodvHelper aodv;
    aodv.Set("EnableHello", BooleanValue(hello));
    if (routing == "aodv") {
        internet.SetRoutingHelper(aodv);
    }
    internet.Install(nodes);
    Ipv4AddressHelper addresses("10.1.0.0", "255.255.255.0");
    auto interfaces = addresses.Assign(devices);
    if (cache) {
        NeighborCacheHelper().PopulateNeighborCache();
    }
    TrafficControlHelper().Uninstall(devices);
    Ipv4StaticRoutingHelper routes;
    for (uint32_t index = 0; routing == "static" && index <= hops; ++index) {
        auto table = routes.GetStaticRouting(nodes.Get(index)->GetObject<Ipv4>());
        for (uint32_t end = 0; end <= hops; ++end) {
            if (end != index) {
                const uint32_t next = end > index ? index + 1 : index - 1;
                table->AddHostRouteTo(interfaces.GetAddress(end), interfaces.GetAddress(next), 1);
            }
        }
    }
    const bool isTcp = transport == "tcp";
    const std::string factory = isTcp ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory";
    PacketSinkHelper sinks(factory, InetSocketAddress(Ipv4Address::GetAny(), 5001));
    auto sink = sinks.Install(nodes.Get(hops)).Get(0)->GetObject<PacketSink>();
    const InetSocketAddress to(interfaces.GetAddress(hops), 5001);
    if (isTcp) {
        BulkSendHelper bulk(factory, to);
        bulk.Install(nodes.Get(0)).Start(Seconds(0.1));
    } else {
        UdpClientHelper stream(to);
        stream.SetAttribute("PacketSize", UintegerValue(size - 28));
        stream.SetAttribute("MaxPackets", UintegerValue(UINT32_MAX));
        stream.SetAttribute("Interval", TimeValue(Seconds(8.0 * size / offered)));
        stream.Install(nodes.Get(0)).Start(Seconds(0.1));
    }

    uint64_t before = 0;
    Simulator::Schedule(Seconds(1), [&] { before = sink->GetTotalRx(); });
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    {
        lena::Json json;
        json.Add("goodput_bps", 8.0 * (sink->GetTotalRx() - before) / (seconds - 1.0));
        json.Add("requests", meter.requests);
        json.Add("errors", meter.errors);
        json.Add("refused", meter.refused);
        json.Add("expired", meter.expired);
        json.Add("given_up", meter.given_up);
    }
    Simulator::Destroy();
    return 0;
}
