use std::{io, path::PathBuf};

/// Why energy can't be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PowerError {
    /// The interface isn't there at all: wrong platform, kernel module not loaded, or a virtual machine.
    #[error("{source_name}: nothing to read under {}", path.display())]
    Absent {
        /// The source that was looked for.
        source_name: &'static str,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The interface is there, but emptied, as container runtimes do.
    #[error("{source_name}: {} is there but hidden, as in a container", path.display())]
    Masked {
        /// The source that was looked for.
        source_name: &'static str,
        /// What was found empty.
        path: PathBuf,
    },
    /// The interface belongs to a kernel module that isn't loaded.
    #[error("{source_name}: nothing to read under {}; the kernel module {module} is not loaded", path.display())]
    Module {
        /// The source that was looked for.
        source_name: &'static str,
        /// Where it was looked for.
        path: PathBuf,
        /// What would show it.
        module: &'static str,
    },
    /// It is there, but says nothing that could be used.
    #[error("{source_name}: {reason}")]
    Unusable {
        /// The source that was looked for.
        source_name: &'static str,
        /// Why.
        reason: String,
    },
    /// The kernel keeps numbers to itself that no file guards.
    #[error("{source_name}: not allowed: {setting}")]
    Forbidden {
        /// The source that was looked for.
        source_name: &'static str,
        /// The setting that forbids it, with its value.
        setting: String,
    },
    /// Numbers exist but this user may not read them.
    #[error("no permission to read {}", list(paths))]
    Permission {
        /// Every file that was refused.
        paths: Vec<PathBuf>,
    },
    /// Reading failed for any other reason.
    #[error("cannot read {}", path.display())]
    Io {
        /// The file that could not be read.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file was read but is not a number.
    #[error("{} holds {text:?}, which is not a count", path.display())]
    Malformed {
        /// The file that was read.
        path: PathBuf,
        /// What it held.
        text: String,
    },
    /// A vendor's library can't be loaded.
    #[error("{source_name}: {said}")]
    Library {
        /// The source that needs it.
        source_name: &'static str,
        /// Which library, and what the system said.
        said: String,
    },
    /// A vendor's library was loaded, but refuses or lacks something.
    #[error("{source_name}: {said}")]
    Vendor {
        /// The source that needs it.
        source_name: &'static str,
        /// What failed, and how.
        said: String,
        /// The step that would help, where one is known.
        fix: Option<String>,
        /// Whether it is this user who may not.
        refused: bool,
    },
    /// No source has this name.
    #[error("no power source is called {name:?}")]
    UnknownSource {
        /// The name that was asked for.
        name: String,
    },
    /// The time between two readings is out of range.
    #[error("period of {period_ns} ns is outside 100000 ns (0.1 ms) to 3600000000000 ns (1 h)")]
    Period {
        /// The period that was asked for.
        period_ns: i64,
    },
    /// The source would miss something if it were read so rarely.
    #[error("{source_name} must be read at least every {most_ns} ns, not every {period_ns} ns")]
    TooRare {
        /// The source.
        source_name: &'static str,
        /// The period that was asked for.
        period_ns: i64,
        /// The longest one that is safe.
        most_ns: i64,
    },
    /// The sampling thread could not be started.
    #[error("cannot start the sampling thread")]
    Thread {
        /// What the system said.
        source: io::Error,
    },
}

impl PowerError {
    /// A stable name for programs; becomes `error.code` in JavaScript.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Absent { .. }
            | Self::Library { .. }
            | Self::Vendor { refused: false, .. }
            | Self::Masked { .. }
            | Self::Module { .. }
            | Self::Unusable { .. } => "POWER_NO_SOURCE",
            Self::Permission { .. } | Self::Vendor { refused: true, .. } | Self::Forbidden { .. } => {
                "POWER_PERMISSION"
            }
            Self::Io { .. } | Self::Thread { .. } => "POWER_IO",
            Self::Malformed { .. } => "POWER_MALFORMED",
            Self::UnknownSource { .. } | Self::Period { .. } | Self::TooRare { .. } => "INPUT_INVALID",
        }
    }

    /// What stands in the way, in one word.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Absent { .. } | Self::Library { .. } | Self::Vendor { refused: false, .. } => "absent",
            Self::Masked { .. } => "masked",
            Self::Module { .. } => "absent-module",
            Self::Unusable { .. } => "unusable",
            Self::Permission { .. } | Self::Vendor { refused: true, .. } | Self::Forbidden { .. } => {
                "permission"
            }
            Self::Malformed { .. } => "parse",
            Self::Io { .. } | Self::Thread { .. } => "io",
            Self::UnknownSource { .. } | Self::Period { .. } | Self::TooRare { .. } => "input",
        }
    }

    pub(crate) fn io(path: PathBuf, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::PermissionDenied => Self::Permission { paths: vec![path] },
            _ => Self::Io { path, source },
        }
    }
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}
