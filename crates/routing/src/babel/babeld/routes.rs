//! Feasibility, and the choice of routes.

use backlane_net::NodeId;
use backlane_units::Duration;

use super::super::daemon::is_newer;
use super::super::message::INFINITY;
use super::{Babeld, HOPS, Route, SECOND, SOURCE_LIFE, Source};

impl Babeld {
    pub(super) fn flush_routes(&mut self, end: usize) {
        let prefixes: Vec<NodeId> = self.routes.keys().copied().collect();
        for prefix in prefixes {
            self.flush_route(prefix, end);
        }
    }

    pub(super) fn flush_route(&mut self, prefix: NodeId, end: usize) {
        let Some(route) = self
            .routes
            .get_mut(&prefix)
            .and_then(|all| all.remove(&end))
        else {
            return;
        };
        if route.installed {
            self.touched.insert(prefix);
            self.route_lost(prefix, route.id, route.metric());
        }
    }

    pub(super) fn is_feasible(&self, prefix: NodeId, id: u64, seqno: u16, refmetric: u16) -> bool {
        let Some(source) = self.sources.get(&(prefix, id)) else {
            return true;
        };
        refmetric == INFINITY
            || self.now.saturating_since(source.time) > SOURCE_LIFE
            || is_newer(seqno, source.seqno)
            || (seqno == source.seqno && refmetric < source.metric)
    }

    pub(super) fn route_is_feasible(&self, prefix: NodeId, route: &Route) -> bool {
        self.is_feasible(prefix, route.id, route.seqno, route.refmetric)
    }

    pub(super) fn update_source(&mut self, prefix: NodeId, id: u64, seqno: u16, metric: u16) {
        let now = self.now;
        let Some(source) = self.sources.get_mut(&(prefix, id)) else {
            return;
        };
        if metric == INFINITY {
            return;
        }
        if now.saturating_since(source.time) > SOURCE_LIFE
            || is_newer(seqno, source.seqno)
            || (seqno == source.seqno && metric < source.metric)
        {
            (source.seqno, source.metric) = (seqno, metric);
        }
        source.time = now;
    }

    /// The sequence number that would make any route feasible again.
    pub(super) fn wanted_seqno(&self, prefix: NodeId, id: u64) -> u16 {
        match self.sources.get(&(prefix, id)) {
            Some(source) if source.metric == INFINITY => source.seqno,
            Some(source) => source.seqno.wrapping_add(1),
            None => 0,
        }
    }

    pub(super) fn installed(&self, prefix: NodeId) -> Option<(usize, &Route)> {
        let mut all = self.routes.get(&prefix)?.iter();
        all.find(|(_, route)| route.installed)
            .map(|(&end, route)| (end, route))
    }

    pub(super) fn second(&self) -> u64 {
        self.now.as_ps() / SECOND.as_ps()
    }

    /// Brings the smoothed metric up to date: it moves halfway to the metric in each half-life, in
    /// steps of a second with a random part.
    pub(super) fn smooth(&mut self, prefix: NodeId, end: usize) -> i64 {
        let (second, half_life) = (self.second(), self.config.smoothing_half_life);
        let Some(route) = self
            .routes
            .get_mut(&prefix)
            .and_then(|all| all.get_mut(&end))
        else {
            return INFINITY.into();
        };
        let metric = i64::from(route.metric());
        let half_life_s = half_life.as_ps() / SECOND.as_ps();
        if half_life_s == 0 || route.metric() == INFINITY || route.smoothed == metric {
            (route.smoothed, route.smoothed_s) = (metric, second);
            return metric;
        }
        let mut roughly = |value: i64| {
            let size = value.abs();
            if size <= 1 {
                return value;
            }
            let drawn = self.draws.uniform_below((size / 2).max(1) as u64) as i64;
            value.signum() * (size * 3 / 4 + drawn)
        };
        while route.smoothed_s + half_life_s <= second {
            route.smoothed += roughly(metric - route.smoothed) / 2;
            route.smoothed_s += half_life_s;
        }
        // 2^(1/half-life) - 1, of 65 536.
        let step = match half_life_s {
            1 => 65_536,
            2 => 27_146,
            3 => 17_034,
            4 => 12_399,
            other => 45_426 / other as i64,
        };
        while route.smoothed_s < second {
            route.smoothed += roughly(metric - route.smoothed) * step / 65_536;
            route.smoothed_s += 1;
        }
        if (metric - route.smoothed).abs() < 4 {
            route.smoothed = metric;
        }
        route.smoothed
    }

    pub(super) fn change_metric(&mut self, prefix: NodeId, end: usize, refmetric: u16, cost: u16) {
        self.smooth(prefix, end);
        let no_smoothing = self.config.smoothing_half_life < SECOND;
        if let Some(route) = self
            .routes
            .get_mut(&prefix)
            .and_then(|all| all.get_mut(&end))
        {
            (route.refmetric, route.cost) = (refmetric, cost);
            if no_smoothing {
                route.smoothed = route.metric().into();
            }
            if route.installed {
                self.touched.insert(prefix);
            }
        }
    }

    pub(super) fn retract(&mut self, prefix: NodeId, end: usize) {
        self.change_metric(prefix, end, INFINITY, INFINITY);
    }

    /// The route with the least smoothed metric; the installed one wins a tie.
    pub(super) fn best(
        &mut self,
        prefix: NodeId,
        feasible: bool,
        exclude: Option<usize>,
    ) -> Option<usize> {
        let all = self.routes.get(&prefix)?;
        let mut ends: Vec<(bool, usize)> = all
            .iter()
            .filter(|(end, route)| {
                !route.is_expired(self.now)
                    && (!feasible || self.route_is_feasible(prefix, route))
                    && exclude != Some(**end)
            })
            .map(|(&end, route)| (!route.installed, end))
            .collect();
        ends.sort_unstable();
        let mut best: Option<(i64, usize)> = None;
        for (_, end) in ends {
            let smoothed = self.smooth(prefix, end);
            if best.is_none_or(|(least, _)| smoothed < least) {
                best = Some((smoothed, end));
            }
        }
        best.map(|(_, end)| end)
    }

    pub(super) fn metric_of(&self, prefix: NodeId, end: usize) -> u16 {
        let route = self.routes.get(&prefix).and_then(|all| all.get(&end));
        route.map_or(INFINITY, Route::metric)
    }

    /// Costs of a neighbour's link have changed, or a route has expired.
    pub(super) fn update_metric(&mut self, prefix: NodeId, end: usize) {
        let Some(route) = self.routes.get(&prefix).and_then(|all| all.get(&end)) else {
            return;
        };
        let (id, old) = (route.id, route.metric());
        let old_smoothed = self.smooth(prefix, end);
        let route = &self.routes[&prefix][&end];
        if route.is_expired(self.now) {
            if route.refmetric < INFINITY {
                let seqno = self
                    .sources
                    .get(&(prefix, id))
                    .map_or(0, |source| source.seqno);
                self.retract(prefix, end);
                if let Some(route) = self
                    .routes
                    .get_mut(&prefix)
                    .and_then(|all| all.get_mut(&end))
                {
                    route.seqno = seqno.wrapping_add(1);
                }
                if old < INFINITY {
                    self.route_changed(prefix, end, id, old);
                }
            }
            return;
        }
        let (refmetric, cost) = (route.refmetric, self.cost(end));
        self.change_metric(prefix, end, refmetric, cost);
        if self.metric_of(prefix, end) != old || self.smooth(prefix, end) != old_smoothed {
            self.route_changed(prefix, end, id, old);
        }
    }

    pub(super) fn update_metrics(&mut self, end: usize) {
        let prefixes: Vec<NodeId> = self.routes.keys().copied().collect();
        for prefix in prefixes {
            self.update_metric(prefix, end);
        }
    }

    pub(super) fn on_update(
        &mut self,
        end: usize,
        id: u64,
        prefix: NodeId,
        seqno: u16,
        refmetric: u16,
        announced: Duration,
    ) {
        if id == self.id {
            return;
        }
        let hold = announced.saturating_mul(6).max(Duration::from_secs(15));
        let now = self.now;
        self.sources.entry((prefix, id)).or_insert(Source {
            seqno,
            metric: INFINITY,
            time: now,
        });
        let feasible = self.is_feasible(prefix, id, seqno, refmetric);
        let cost = self.cost(end);
        let metric = refmetric.saturating_add(cost);
        let known = self
            .routes
            .get_mut(&prefix)
            .and_then(|all| all.get_mut(&end));
        if let Some(route) = known {
            let (old_id, old) = (route.id, route.metric());
            let was_installed = route.installed;
            // A successor that changes its source is followed at once, to break loops.
            let switched = !feasible && route.installed && id != route.id;
            if switched {
                route.installed = false;
                self.touched.insert(prefix);
            }
            route.id = id;
            if refmetric < INFINITY {
                route.time = now;
            }
            route.seqno = seqno;
            self.change_metric(prefix, end, refmetric, cost);
            if let Some(route) = self
                .routes
                .get_mut(&prefix)
                .and_then(|all| all.get_mut(&end))
            {
                route.hold = hold;
            }
            self.route_changed(prefix, end, old_id, old);
            let lost = switched || (was_installed && self.installed(prefix).is_none());
            if lost {
                self.route_lost(prefix, old_id, old);
            } else if !feasible {
                let route = self.routes.get(&prefix).and_then(|all| all.get(&end));
                let force = route.is_some_and(|route| route.is_old(now));
                self.request_feasible(end, force, seqno, metric, prefix, id);
            }
            return;
        }
        if refmetric == INFINITY {
            return;
        }
        if !feasible {
            self.request_feasible(end, false, seqno, metric, prefix, id);
        }
        let second = self.second();
        let route = Route {
            id,
            refmetric,
            cost,
            seqno,
            time: now,
            hold,
            smoothed: i64::from(metric.max(INFINITY / 2)),
            smoothed_s: second,
            installed: false,
        };
        self.routes.entry(prefix).or_default().insert(end, route);
        self.consider(prefix, end);
    }

    /// An update is not feasible: if it is any good, a new sequence number is asked for.
    pub(super) fn request_feasible(
        &mut self,
        end: usize,
        force: bool,
        seqno: u16,
        metric: u16,
        prefix: NodeId,
        id: u64,
    ) {
        let Some(source) = self.sources.get(&(prefix, id)) else {
            return;
        };
        if (source.seqno.wrapping_sub(seqno) as i16) > 100 {
            // The source has probably lost its number; it times out.
            return;
        }
        let installed = self.installed(prefix).map(|(_, route)| route.metric());
        let is_good = installed.is_none_or(|other| u32::from(other) >= u32::from(metric) + 512);
        if force || is_good {
            let wanted = self.wanted_seqno(prefix, id);
            self.send_seqno_request(end, prefix, wanted, id, HOPS);
        }
    }

    /// Whether a route is to be installed in place of the present one: it must be better, and its
    /// smoothed metric too.
    pub(super) fn consider(&mut self, prefix: NodeId, end: usize) {
        let Some(route) = self.routes.get(&prefix).and_then(|all| all.get(&end)) else {
            return;
        };
        if route.installed || !self.route_is_feasible(prefix, route) || prefix == self.node {
            return;
        }
        let metric = route.metric();
        let present = self
            .installed(prefix)
            .map(|(end, route)| (end, route.id, route.metric()));
        if let Some((present_end, _, present_metric)) = present {
            if metric == INFINITY {
                return;
            }
            let is_better = present_metric == INFINITY
                || (present_metric >= metric
                    && self.smooth(prefix, present_end) > self.smooth(prefix, end));
            if !is_better {
                return;
            }
        }
        if let Some(all) = self.routes.get_mut(&prefix) {
            for (other, route) in all {
                route.installed = *other == end;
            }
        }
        self.touched.insert(prefix);
        match present {
            Some((_, id, metric)) => self.send_triggered(prefix, end, id, metric),
            None => self.send_update(None, true, prefix),
        }
    }

    pub(super) fn retract_neighbour(&mut self, end: usize) {
        let prefixes: Vec<NodeId> = self.routes.keys().copied().collect();
        for prefix in prefixes {
            let route = self.routes.get(&prefix).and_then(|all| all.get(&end));
            let Some(route) = route.filter(|route| route.refmetric < INFINITY) else {
                continue;
            };
            let (id, old) = (route.id, route.metric());
            self.retract(prefix, end);
            if old < INFINITY {
                self.route_changed(prefix, end, id, old);
            }
        }
    }

    /// The installed route has changed: neighbours get an update, if it matters, and are asked for
    /// their routes, if it became worse by 288 or more (babeld since 1.9, `send_triggered_update` in
    /// `route.c`: a plain request, by multicast on all ports. The number that a feasible route needs is
    /// asked for when an answer is not feasible).
    pub(super) fn send_triggered(&mut self, prefix: NodeId, end: usize, old_id: u64, old: u16) {
        let Some(route) = self.routes.get(&prefix).and_then(|all| all.get(&end)) else {
            return;
        };
        if !route.installed {
            return;
        }
        let (id, seqno, new) = (route.id, route.seqno, route.metric());
        let difference = new.abs_diff(old);
        if id != old_id || (old < INFINITY && new == INFINITY) {
            self.send_update_resend(prefix);
        } else if (new > old && old < 6 * 256 && difference >= 512)
            || self.has_unsatisfied(prefix, seqno, id)
        {
            self.send_update(None, true, prefix);
        } else if old == INFINITY && new < INFINITY {
            self.send_update(None, false, prefix);
        } else if (new < old && difference < 1024) || difference < 384 {
            return;
        } else {
            self.send_update(None, false, prefix);
        }
        if old < INFINITY && u32::from(new) >= u32::from(old) + 288 {
            for port in 0..self.ports.len() {
                self.send_request(port, Some(prefix));
            }
        }
    }

    pub(super) fn route_changed(&mut self, prefix: NodeId, end: usize, old_id: u64, old: u16) {
        let is_installed = |daemon: &Self| {
            let route = daemon.routes.get(&prefix).and_then(|all| all.get(&end));
            route.is_some_and(|route| route.installed)
        };
        if is_installed(self)
            && let Some(better) = self.best(prefix, true, None)
            && self.metric_of(prefix, better) < self.metric_of(prefix, end)
        {
            self.consider(prefix, better);
        }
        if is_installed(self) {
            self.send_triggered(prefix, end, old_id, old);
        } else {
            self.consider(prefix, end);
        }
    }

    /// The installed route is gone.
    pub(super) fn route_lost(&mut self, prefix: NodeId, id: u64, old: u16) {
        if let Some(new) = self.best(prefix, true, None) {
            self.consider(prefix, new);
        } else if old < INFINITY {
            self.send_update_resend(prefix);
            if old <= INFINITY / 2 {
                self.send_request_resend(prefix, id);
            }
        }
    }

    pub(super) fn expire_routes(&mut self) {
        let all: Vec<(NodeId, usize)> = self
            .routes
            .iter()
            .flat_map(|(prefix, all)| all.keys().map(|end| (*prefix, *end)))
            .collect();
        for (prefix, end) in all {
            let route = self.routes.get(&prefix).and_then(|all| all.get(&end));
            if route.is_some_and(|route| route.is_old(self.now)) {
                self.flush_route(prefix, end);
            } else {
                self.update_metric(prefix, end);
            }
        }
        let now = self.now;
        self.resends.retain(|resend| !resend.is_expired(now));
    }
}
