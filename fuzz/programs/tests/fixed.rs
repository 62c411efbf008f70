//! Programs that were generated once, as the PTX that came of them and the numbers of their twins: in
//! every build, without a compiler. `generate keep FOLDER SEED…` makes such files.

use std::path::Path;

use programs::{Kept, try_ptx};

#[test]
fn kept_programs_store_what_their_twins_did() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixed");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the folder of kept programs") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("PTX");
        let kept = Kept::read(&text).expect("a kept program");
        if let Err(mistake) = try_ptx(kept.ptx, &kept.expected, kept.capability, 1) {
            panic!("{}: {mistake}", path.display());
        }
        count += 1;
    }
    assert!(count >= 10, "only {count} programs");
}
