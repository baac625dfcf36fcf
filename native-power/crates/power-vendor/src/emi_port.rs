//! Windows' energy meters as devices: where they are, and how they are asked. What they say is read in `power-core`.
#![expect(unsafe_code, reason = "calls into Windows")]

use std::{
    fs::File,
    io,
    os::windows::io::AsRawHandle,
    ptr::{null, null_mut},
    thread,
    time::Duration,
};

use power_core::{EMI, Emi, EmiPort, FoundMeter, PowerError};
use windows_sys::Win32::{
    Devices::DeviceAndDriverInstallation::{
        CM_GET_DEVICE_INTERFACE_LIST_PRESENT, CM_Get_Device_Interface_List_SizeW,
        CM_Get_Device_Interface_ListW, CR_SUCCESS,
    },
    System::{IO::DeviceIoControl, Power::GUID_DEVICE_ENERGY_METER},
};

/// Long enough for a counter to be renewed between two looks.
const LOOK: Duration = Duration::from_millis(20);

/// Opens every meter that Windows shows.
pub fn open() -> Result<Emi, PowerError> {
    let places = places().map_err(|said| PowerError::Vendor {
        source_name: EMI,
        said: format!("the list of energy meters can't be read (configuration manager: {said})"),
        fix: None,
        refused: false,
    })?;
    let found = places.into_iter().map(|place| {
        let port = File::open(&place).map(|file| Box::new(Device(file)) as Box<dyn EmiPort>);
        (place, port)
    });
    Emi::open(found.collect::<Vec<FoundMeter>>(), || thread::sleep(LOOK))
}

struct Device(File);

impl EmiPort for Device {
    fn ask(&self, code: u32, answer: &mut [u8]) -> io::Result<usize> {
        let room = u32::try_from(answer.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut length = 0;
        // SAFETY: the file is open; there is nothing to send, and Windows writes at most as much as there is room for.
        let done = unsafe {
            DeviceIoControl(
                self.0.as_raw_handle(),
                code,
                null(),
                0,
                answer.as_mut_ptr().cast(),
                room,
                &raw mut length,
                null_mut(),
            )
        };
        if done == 0 { Err(io::Error::last_os_error()) } else { Ok(length as usize) }
    }
}

/// Paths of the meters that are present; the number of what went wrong otherwise.
fn places() -> Result<Vec<String>, u32> {
    let class = GUID_DEVICE_ENERGY_METER;
    let mut length = 0;
    // SAFETY: it reads the class and writes one number.
    let said = unsafe {
        CM_Get_Device_Interface_List_SizeW(
            &raw mut length,
            &raw const class,
            null(),
            CM_GET_DEVICE_INTERFACE_LIST_PRESENT,
        )
    };
    if said != CR_SUCCESS {
        return Err(said);
    }
    let mut letters = vec![0_u16; length as usize];
    // SAFETY: it reads the class and writes at most as many letters as there is room for.
    let said = unsafe {
        CM_Get_Device_Interface_ListW(
            &raw const class,
            null(),
            letters.as_mut_ptr(),
            length,
            CM_GET_DEVICE_INTERFACE_LIST_PRESENT,
        )
    };
    if said != CR_SUCCESS {
        return Err(said);
    }
    let places = letters.split(|letter| *letter == 0).filter(|place| !place.is_empty());
    Ok(places.map(String::from_utf16_lossy).collect())
}
