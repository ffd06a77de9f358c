// One LENA cell with one UE, still or walking away: a full-buffer UDP stream or one TCP transfer down.
//
// Prints one JSON object: what the UE got, the mean MCS and SINR, transport blocks and their
// errors, CPU time. With `--series=FILE` it writes cwnd, queue and delivered bytes each 100 ms, with
// `--steps=FILE` each change of the MCS and where the UE then was.

#include "cell.h"

#include <ns3/applications-module.h>
#include <ns3/kun-2600-mhz-propagation-loss-model.h>
#include <ns3/lte-module.h>
#include <ns3/mobility-module.h>
#include <ns3/point-to-point-module.h>

#include <cmath>
#include <fstream>

using namespace ns3;

namespace {

/// Hears what RLC tells MAC about its queue, and passes it on.
class QueueEar : public LteMacSapProvider {
  public:
    explicit QueueEar(LteMacSapProvider* mac) : m_mac(mac) {}

    void TransmitPdu(TransmitPduParameters parameters) override { m_mac->TransmitPdu(parameters); }

    void ReportBufferStatus(ReportBufferStatusParameters parameters) override {
        newBytes = parameters.txQueueSize;
        m_mac->ReportBufferStatus(parameters);
    }

    uint32_t newBytes = 0;

  private:
    LteMacSapProvider* m_mac;
};

struct Mean {
    void Add(double value) {
        sum += value;
        ++count;
    }
    double Value() const { return count ? sum / count : std::nan(""); }

    double sum = 0.0;
    uint64_t count = 0;
};

/// What is counted from the end of the warm-up on.
struct Meter {
    bool Counts() const { return Simulator::Now() >= warmUp; }

    void OnSent(PhyTransmissionStatParameters block) {
        if (Counts() && block.m_rv == 0) {
            mcs.Add(block.m_mcs);
            granted += block.m_size;
            if (block.m_mcs != latest) {
                latest = block.m_mcs;
                steps << Simulator::Now().GetSeconds() << ',' << ue->GetPosition().x << ','
                      << latest << '\n';
            }
        }
    }

    void OnReceived(PhyReceptionStatParameters block) {
        if (!Counts()) {
            return;
        }
        (block.m_rv == 0 ? first : again)++;
        if (block.m_correctness == 0) {
            (block.m_rv == 0 ? firstFailed : againFailed)++;
        }
    }

    void OnSinr(uint16_t, uint16_t, double, double linear, uint8_t) {
        if (Counts()) {
            sinr.Add(linear);
        }
    }

    void OnDropped(Ptr<const Packet>) { ++drops; }

    Time warmUp;
    Ptr<MobilityModel> ue;
    std::ofstream steps;
    int latest = -1;
    Mean mcs;
    Mean sinr;
    uint64_t granted = 0;
    uint64_t first = 0;
    uint64_t firstFailed = 0;
    uint64_t again = 0;
    uint64_t againFailed = 0;
    uint64_t drops = 0;
};

/// The sender's side of the TCP transfer.
struct Sender {
    void OnWindow(uint32_t, uint32_t bytes) { windowBytes = bytes; }
    void OnThreshold(uint32_t, uint32_t bytes) { thresholdBytes = bytes; }
    void OnRtt(Time, Time value) { rtt = value; }
    void OnSegment(Ptr<const Packet> data, const TcpHeader& header, Ptr<const TcpSocketBase>) {
        if (data->GetSize() == 0) {
            return;
        }
        const SequenceNumber32 end = header.GetSequenceNumber() + data->GetSize();
        if (any && end <= highest) {
            ++retransmits;
        } else {
            highest = end;
            any = true;
        }
    }

    uint32_t windowBytes = 0;
    uint32_t thresholdBytes = 0;
    Time rtt;
    SequenceNumber32 highest{0};
    bool any = false;
    uint64_t retransmits = 0;
};

}  // namespace

int main(int argc, char* argv[]) {
    std::string transport = "udp";
    std::string control = "cubic";
    std::string scheduler = "pf";
    std::string rlc = "um";
    std::string series;
    std::string steps;
    std::string fading;
    double distance = 100.0;
    double seconds = 6.0;
    double warmUp = 1.0;
    double serverDelayMs = 40.0;
    double uePower = 46.0;
    double speed = 0.0;
    double fadingSeconds = 10.0;
    uint32_t buffer = 100000;

    CommandLine command(__FILE__);
    command.AddValue("transport", "udp or tcp", transport);
    command.AddValue("control", "cubic, newreno or linuxreno", control);
    command.AddValue("scheduler", "pf or rr", scheduler);
    command.AddValue("rlc", "um or am", rlc);
    command.AddValue("series", "file of samples each 100 ms", series);
    command.AddValue("steps", "file of when and where the MCS changes", steps);
    command.AddValue("fading", "file of gains in dB, a line for each resource block", fading);
    command.AddValue("fadingSeconds", "how long that trace is, at one sample each ms", fadingSeconds);
    command.AddValue("distance", "metres between the cell and its UE", distance);
    command.AddValue("speed", "of the UE away from the cell, in m/s", speed);
    command.AddValue("seconds", "simulated time", seconds);
    command.AddValue("warmUp", "seconds that no mean counts", warmUp);
    command.AddValue("serverDelay", "one way, server to gateway, in ms", serverDelayMs);
    command.AddValue("uePower", "of the UE, in dBm", uePower);
    command.AddValue("buffer", "of RLC, in bytes", buffer);
    command.Parse(argc, argv);
    const bool isTcp = transport == "tcp";

    Config::SetDefault("ns3::LteEnbPhy::TxPower", DoubleValue(30.0));
    Config::SetDefault("ns3::LteUePhy::TxPower", DoubleValue(uePower));
    Config::SetDefault("ns3::LteUePowerControl::Pcmax", DoubleValue(uePower));
    Config::SetDefault("ns3::LteEnbRrc::EpsBearerToRlcMapping",
                       EnumValue(rlc == "am" ? LteEnbRrc::RLC_AM_ALWAYS
                                             : LteEnbRrc::RLC_UM_ALWAYS));
    Config::SetDefault("ns3::LteRlcAm::MaxTxBufferSize", UintegerValue(buffer));
    Config::SetDefault("ns3::LteRlcUm::MaxTxBufferSize", UintegerValue(buffer));
    lena::ConfigureTcp(control, 1448, 10, 16 << 20);

    auto epc = CreateObject<PointToPointEpcHelper>();
    auto lte = CreateObject<LteHelper>();
    lte->SetEpcHelper(epc);
    lte->SetPathlossModelType(Kun2600MhzPropagationLossModel::GetTypeId());
    if (!fading.empty()) {
        lte->SetFadingModel("ns3::TraceFadingLossModel");
        lte->SetFadingModelAttribute("TraceFilename", StringValue(fading));
        lte->SetFadingModelAttribute("TraceLength", TimeValue(Seconds(fadingSeconds)));
        lte->SetFadingModelAttribute("SamplesNum", UintegerValue(lround(1000 * fadingSeconds)));
        lte->SetFadingModelAttribute("RbNum", UintegerValue(100));
    }
    lte->SetSchedulerType(scheduler == "pf" ? "ns3::PfFfMacScheduler" : "ns3::RrFfMacScheduler");
    lte->SetEnbDeviceAttribute("DlEarfcn", UintegerValue(3100));
    lte->SetEnbDeviceAttribute("UlEarfcn", UintegerValue(21100));
    lte->SetEnbDeviceAttribute("DlBandwidth", UintegerValue(100));
    lte->SetEnbDeviceAttribute("UlBandwidth", UintegerValue(100));
    lte->SetUeDeviceAttribute("DlEarfcn", UintegerValue(3100));

    NodeContainer cells(1);
    NodeContainer ues(1);
    NodeContainer servers(1);
    MobilityHelper place;
    place.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    place.Install(cells);
    place.SetMobilityModel("ns3::ConstantVelocityMobilityModel");
    place.Install(ues);
    auto walk = ues.Get(0)->GetObject<ConstantVelocityMobilityModel>();
    walk->SetPosition(Vector(distance, 0.0, 0.0));
    walk->SetVelocity(Vector(speed, 0.0, 0.0));

    auto cellDevices = lte->InstallEnbDevice(cells);
    auto ueDevices = lte->InstallUeDevice(ues);
    InternetStackHelper internet;
    internet.Install(ues);
    internet.Install(servers);

    PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    wire.SetDeviceAttribute("Mtu", UintegerValue(1500));
    wire.SetChannelAttribute("Delay", TimeValue(MicroSeconds(llround(serverDelayMs * 1000))));
    auto wireDevices = wire.Install(epc->GetPgwNode(), servers.Get(0));
    Ipv4AddressHelper addresses("10.1.0.0", "255.255.255.0");
    addresses.Assign(wireDevices);
    Ipv4StaticRoutingHelper routes;
    routes.GetStaticRouting(servers.Get(0)->GetObject<Ipv4>())
        ->AddNetworkRouteTo("7.0.0.0", "255.0.0.0", 1);
    auto ueAddress = epc->AssignUeIpv4Address(NetDeviceContainer(ueDevices)).GetAddress(0);
    routes.GetStaticRouting(ues.Get(0)->GetObject<Ipv4>())
        ->SetDefaultRoute(epc->GetUeDefaultGatewayAddress(), 1);
    lte->Attach(ueDevices.Get(0), cellDevices.Get(0));

    const uint16_t port = 5001;
    const Time start = Seconds(0.5);
    const std::string factory = isTcp ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory";
    PacketSinkHelper sinks(factory, InetSocketAddress(Ipv4Address::GetAny(), port));
    auto sink = sinks.Install(ues.Get(0)).Get(0)->GetObject<PacketSink>();
    if (isTcp) {
        BulkSendHelper bulk(factory, InetSocketAddress(ueAddress, port));
        bulk.SetAttribute("SendSize", UintegerValue(1448 * 10));
        bulk.Install(servers.Get(0)).Start(start);
    } else {
        UdpClientHelper stream(ueAddress, port);
        stream.SetAttribute("PacketSize", UintegerValue(1472));
        stream.SetAttribute("MaxPackets", UintegerValue(UINT32_MAX));
        stream.SetAttribute("Interval", TimeValue(MicroSeconds(130)));  // 92 Mbit/s of IP packets
        stream.Install(servers.Get(0)).Start(start);
    }

    Meter meter;
    meter.warmUp = Seconds(warmUp);
    meter.ue = walk;
    if (!steps.empty()) {
        meter.steps.open(steps);
        meter.steps << "time_s,distance_m,mcs\n";
    }
    auto cell = cellDevices.Get(0)->GetObject<LteEnbNetDevice>();
    auto ue = ueDevices.Get(0)->GetObject<LteUeNetDevice>();
    cell->GetPhy()->TraceConnectWithoutContext("DlPhyTransmission",
                                               MakeCallback(&Meter::OnSent, &meter));
    ue->GetPhy()->GetDownlinkSpectrumPhy()->TraceConnectWithoutContext(
        "DlPhyReception", MakeCallback(&Meter::OnReceived, &meter));
    ue->GetPhy()->TraceConnectWithoutContext("ReportCurrentCellRsrpSinr",
                                             MakeCallback(&Meter::OnSinr, &meter));

    QueueEar queue(cell->GetComponentCarrierManager()->GetLteMacSapProvider());
    Sender sender;
    uint64_t before = 0;
    std::ofstream samples;
    if (!series.empty()) {
        samples.open(series);
        samples << "time_s,cwnd_bytes,ssthresh_bytes,rtt_s,queue_bytes,delivered_bytes,drops,"
                   "retransmits\n";
    }
    Simulator::Schedule(Seconds(0.45), [&] {
        // The bearer is there once RRC has connected; the transfer has not begun.
        auto bearers = Config::LookupMatches(
            "/NodeList/*/DeviceList/*/$ns3::LteEnbNetDevice/LteEnbRrc/UeMap/*/DataRadioBearerMap/*/LteRlc");
        NS_ABORT_MSG_IF(bearers.GetN() != 1, "the UE has " << bearers.GetN() << " bearers");
        auto entity = DynamicCast<LteRlc>(bearers.Get(0));
        entity->SetLteMacSapProvider(&queue);
        entity->TraceConnectWithoutContext("TxDrop", MakeCallback(&Meter::OnDropped, &meter));
    });
    if (isTcp) {
        Simulator::Schedule(start + NanoSeconds(1), [&] {
            const std::string socket = "/NodeList/" + std::to_string(servers.Get(0)->GetId()) +
                                       "/$ns3::TcpL4Protocol/SocketList/0/";
            const auto connect = [&](const std::string& name, const CallbackBase& callback) {
                Config::ConnectWithoutContext(socket + name, callback);
            };
            connect("CongestionWindow", MakeCallback(&Sender::OnWindow, &sender));
            connect("SlowStartThreshold", MakeCallback(&Sender::OnThreshold, &sender));
            connect("RTT", MakeCallback(&Sender::OnRtt, &sender));
            connect("Tx", MakeCallback(&Sender::OnSegment, &sender));
        });
    }
    Simulator::Schedule(meter.warmUp, [&] { before = sink->GetTotalRx(); });
    std::function<void()> sample = [&] {
        samples << Simulator::Now().GetSeconds() << ',' << sender.windowBytes << ','
                << sender.thresholdBytes << ',' << sender.rtt.GetSeconds() << ','
                << queue.newBytes << ',' << sink->GetTotalRx() << ',' << meter.drops << ','
                << sender.retransmits << '\n';
        Simulator::Schedule(MilliSeconds(100), sample);
    };
    if (samples.is_open()) {
        Simulator::Schedule(start + MilliSeconds(100), sample);
    }

    Simulator::Stop(Seconds(seconds));
    const double cpuBefore = lena::CpuSeconds();
    Simulator::Run();
    const double cpu = lena::CpuSeconds() - cpuBefore;

    {
        lena::Json json;
        json.Add("distance_m", distance);
        json.Add("goodput_bps", 8.0 * (sink->GetTotalRx() - before) / (seconds - warmUp));
        json.Add("mcs_mean", meter.mcs.Value());
        json.Add("sinr_db", 10.0 * std::log10(meter.sinr.Value()));
        json.Add("granted_bps", 8.0 * meter.granted / (seconds - warmUp));
        json.Add("blocks", meter.first);
        json.Add("blocks_failed", meter.firstFailed);
        json.Add("retransmissions", meter.again);
        json.Add("retransmissions_failed", meter.againFailed);
        json.Add("rlc_drops", meter.drops);
        json.Add("tcp_retransmits", sender.retransmits);
        json.Add("events", Simulator::GetEventCount());
        json.Add("cpu_s", cpu);
        json.Add("memory_mb", lena::PeakMegabytes());
    }
    Simulator::Destroy();
    return 0;
}
