//! Threads that wake up on a schedule, as a sampler's do, and do nothing: what a machine charges for it. The arguments are the
//! periods of the threads, ns. Ends with its standard input's first line.
use std::{
    env, io, thread,
    time::{Duration, Instant},
};

fn main() {
    for period in env::args().skip(1).filter_map(|text| text.parse().ok()).map(Duration::from_nanos) {
        thread::spawn(move || {
            let mut next = Instant::now() + period;
            loop {
                thread::sleep(next.saturating_duration_since(Instant::now()));
                while next <= Instant::now() {
                    next += period;
                }
            }
        });
    }
    println!("{{\"ready\":[]}}");
    let mut line = String::new();
    if io::stdin().read_line(&mut line).is_ok() {
        println!("{{}}");
    }
}
