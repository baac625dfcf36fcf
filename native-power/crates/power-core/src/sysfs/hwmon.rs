//! Chips of Linux hwmon. See <https://docs.kernel.org/hwmon/sysfs-interface.html>.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    PowerError,
    file::{Open, read_count, read_text},
};

/// One chip.
#[derive(Clone, Debug)]
pub struct Chip {
    /// Its folder in the class folder.
    pub dir: PathBuf,
    /// What the driver calls it, for instance `amdgpu`.
    pub name: String,
    /// What stays the same across restarts: the device's address, or the folder's name where there is none.
    pub place: String,
}

impl Chip {
    /// A file of the chip.
    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// The first of these files that there is.
    pub fn first_of(&self, names: &[&str]) -> Option<PathBuf> {
        names.iter().map(|name| self.file(name)).find(|path| path.exists())
    }

    /// The greatest of these counts that is above 0.
    pub fn greatest(&self, names: &[&str], open: Open) -> Option<u64> {
        names.iter().filter_map(|name| read_count(&self.file(name), open)).max().filter(|value| *value > 0)
    }

    /// The text of a file; None when there is none, or nothing in it.
    pub fn text(&self, name: &str, open: Open) -> Option<String> {
        read_text(&self.file(name), open).ok().filter(|text| !text.is_empty())
    }
}

pub fn class_dir(root: &Path) -> PathBuf {
    root.join("sys/class/hwmon")
}

/// Every chip with one of these names, in the order of their places. Two links to one chip are one chip.
pub fn chips(
    source_name: &'static str,
    root: &Path,
    names: &[&str],
    open: Open,
) -> Result<Vec<Chip>, PowerError> {
    let class = class_dir(root);
    let entries = match fs::read_dir(&class) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(PowerError::Absent { source_name, path: class });
        }
        Err(error) => return Err(PowerError::io(class, error)),
    };
    let folders: BTreeSet<_> = entries.filter_map(Result::ok).map(|entry| entry.file_name()).collect();
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    for folder in folders {
        let dir = class.join(&folder);
        let real = match fs::canonicalize(&dir) {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(PowerError::Masked { source_name, path: dir });
            }
            Err(error) => return Err(PowerError::io(dir, error)),
        };
        let Ok(name) = read_text(&dir.join("name"), open) else { continue };
        if names.contains(&name.as_str()) && seen.insert(real) {
            let device = fs::canonicalize(dir.join("device")).ok();
            let address = device.as_deref().and_then(Path::file_name).unwrap_or(&folder);
            found.push(Chip { place: address.to_string_lossy().into_owned(), name, dir });
        }
    }
    found.sort_by(|a, b| (&a.place, &a.dir).cmp(&(&b.place, &b.dir)));
    Ok(found)
}
