//! `ca-bundle.pem`: the certificates that child processes are told to trust.

use crate::files::{self, FileError};
use base64::{Engine, engine::general_purpose::STANDARD};
use std::path::{Path, PathBuf};

/// The variables by which Node, OpenSSL, Python's requests and curl find their bundle.
pub const VARIABLES: [&str; 4] =
    ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"];

/// Writes `<run_dir>/ca-bundle.pem`: the guard's CA, what the variables named before, and the system's roots.
///
/// # Errors
/// When a bundle that a variable names cannot be read, or ours cannot be written.
pub fn write(run_dir: &Path, ca: &Path, named_before: &[PathBuf]) -> Result<PathBuf, FileError> {
    let mut text = files::read_text(ca, files::DECLARED_CAP)?;
    for bundle in named_before {
        text.push('\n');
        text.push_str(&files::read_text(bundle, files::DECLARED_CAP)?);
    }
    for certificate in rustls_native_certs::load_native_certs().certs {
        text.push_str("\n-----BEGIN CERTIFICATE-----\n");
        let encoded = STANDARD.encode(&certificate);
        for line in encoded.as_bytes().chunks(64) {
            text.push_str(&String::from_utf8_lossy(line));
            text.push('\n');
        }
        text.push_str("-----END CERTIFICATE-----\n");
    }
    let path = run_dir.join("ca-bundle.pem");
    files::write_atomic(&path, text.as_bytes())?;
    Ok(path)
}

/// The bundles that the environment names, each once.
pub fn named_in_environment() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for variable in VARIABLES {
        if let Some(path) = std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
            && !found.contains(&path)
        {
            found.push(path);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_all_three() {
        let folder = tempfile::tempdir().unwrap();
        let (ca, old) = (folder.path().join("ca.pem"), folder.path().join("old.pem"));
        files::write_atomic(&ca, b"GUARD").unwrap();
        files::write_atomic(&old, b"OLD").unwrap();
        let path = write(folder.path(), &ca, std::slice::from_ref(&old)).unwrap();
        let text = files::read_text(&path, files::DECLARED_CAP).unwrap();
        assert!(text.starts_with("GUARD\nOLD"));
        let roots = rustls_native_certs::load_native_certs().certs.len();
        assert_eq!(text.matches("-----END CERTIFICATE-----\n").count(), roots);
        assert!(write(folder.path(), &ca, &[folder.path().join("none.pem")]).is_err());
    }
}
