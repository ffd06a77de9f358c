//! The models of a program: those of Backlane and its own.

use std::sync::OnceLock;

use backlane_assignment as assignment;
use backlane_lte::config::{RanConfig, lena};
use backlane_param::{Params, Values};
use backlane_scenario::model::Rates;
use backlane_scenario::{Catalogue, CatalogueError, Declared};
use backlane_slotted as slotted;
use backlane_tcp as tcp;
use backlane_traffic::CodingConfig;
use backlane_wifi::WifiConfig;
use backlane_wifi::config::{ns2, ns3};

use crate::controls::{self, Control};
use crate::mobility::UeMotion;
use crate::path_losses::PathLoss;
use crate::queues::{self, Queue};
use crate::registry::Registry;
use crate::routers::{self, Protocol};
use crate::sources::Traffic;
use crate::technologies::Technology;

/// The models that a scenario may name, with their keys.
pub struct Models {
    pub(crate) routers: Registry<Protocol>,
    pub(crate) queues: Registry<Queue>,
    pub(crate) sources: Registry<Traffic>,
    pub(crate) technologies: Registry<Technology>,
    pub(crate) path_losses: Registry<PathLoss>,
    pub(crate) motions: Registry<UeMotion>,
    pub(crate) controls: Registry<Control>,
    catalogue: Catalogue,
}

/// Adds models to those of Backlane.
pub struct ModelsBuilder {
    routers: Registry<Protocol>,
    queues: Registry<Queue>,
    sources: Registry<Traffic>,
    technologies: Registry<Technology>,
    path_losses: Registry<PathLoss>,
    motions: Registry<UeMotion>,
    controls: Registry<Control>,
}

impl Models {
    /// Those of Backlane.
    pub fn standard() -> &'static Self {
        static STANDARD: OnceLock<Models> = OnceLock::new();
        STANDARD.get_or_init(|| {
            let models = Self::builder().build();
            // A test builds them.
            models.unwrap_or_else(|error| panic!("the models of Backlane: {error}"))
        })
    }

    /// The models of Backlane, as a start.
    pub fn builder() -> ModelsBuilder {
        ModelsBuilder {
            routers: routers::standard(),
            queues: queues::standard(),
            sources: Registry::default(),
            technologies: Registry::default(),
            path_losses: Registry::default(),
            motions: Registry::default(),
            controls: controls::standard(),
        }
    }

    /// The keys of a scenario file.
    pub const fn catalogue(&self) -> Catalogue {
        self.catalogue
    }
}

impl ModelsBuilder {
    /// Adds a routing protocol.
    #[must_use]
    pub fn router(mut self, protocol: Protocol) -> Self {
        self.routers.push(protocol.guarded());
        self
    }

    /// Adds a queue discipline.
    #[must_use]
    pub fn queue(mut self, queue: Queue) -> Self {
        self.queues.push(queue.guarded());
        self
    }

    /// Adds an access technology.
    #[must_use]
    pub fn access(mut self, technology: Technology) -> Self {
        self.technologies.push(technology);
        self
    }

    /// Adds a kind of flow over UDP.
    #[must_use]
    pub fn traffic(mut self, traffic: Traffic) -> Self {
        self.sources.push(traffic);
        self
    }

    /// Adds a model of path loss.
    #[must_use]
    pub fn path_loss(mut self, model: PathLoss) -> Self {
        self.path_losses.push(model);
        self
    }

    /// Adds a mobility model of UEs.
    #[must_use]
    pub fn mobility(mut self, model: UeMotion) -> Self {
        self.motions.push(model);
        self
    }

    /// Adds a congestion control.
    #[must_use]
    pub fn congestion_control(mut self, control: Control) -> Self {
        self.controls.push(control);
        self
    }

    /// The models and their catalogue. It is made once and lives as long as the program.
    ///
    /// # Errors
    ///
    /// A name or a key that is taken, or a default that its own key refuses.
    pub fn build(self) -> Result<Models, CatalogueError> {
        let declared = self.routers.declared().chain(self.queues.declared());
        let declared = declared.chain(self.sources.declared());
        let declared = declared.chain(self.technologies.declared());
        let declared = declared.chain(self.path_losses.declared());
        let declared = declared.chain(self.motions.declared());
        let declared = declared.chain(self.controls.declared());
        let declared: Vec<Declared> = declared.chain(sections()).collect();
        Ok(Models {
            catalogue: Catalogue::new(&declared)?,
            routers: self.routers,
            queues: self.queues,
            sources: self.sources,
            technologies: self.technologies,
            path_losses: self.path_losses,
            motions: self.motions,
            controls: self.controls,
        })
    }
}

/// The sections, words and profiles of models that a program cannot add to.
fn sections() -> Vec<Declared> {
    let sections = [
        tcp::Config::section(),
        assignment::Config::spec().section("assignment"),
        CodingConfig::spec().section("coding"),
        slotted::Config::spec().section("slotted"),
        WifiConfig::spec().section("wifi"),
    ];
    let lte = Declared::Word {
        section: "access",
        variant: RanConfig::spec().variant("lte"),
    };
    let profile = |section, kind, changed| Declared::Profile {
        section,
        kind,
        changed,
    };
    let others = [
        lte,
        profile("access", "lte", lena()),
        profile("wifi", "", ns2()),
        profile("wifi", "", ns3()),
        Declared::Rates(rates),
    ];
    let sections = sections.map(Declared::Section).into_iter();
    sections.chain(others).collect()
}

/// The rates of 802.11 radios.
fn rates(wifi: &Values) -> Option<Rates> {
    let config = WifiConfig::read(wifi).ok()?;
    let modes = config.standard.modes().iter();
    Some(Rates {
        data: config.data_rate(),
        all: modes.map(|mode| mode.rate()).collect(),
    })
}

/// The keys of a scenario file with the models of Backlane.
pub fn catalogue() -> Catalogue {
    Models::standard().catalogue()
}
