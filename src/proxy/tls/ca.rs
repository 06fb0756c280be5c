//! The authority of one run. Its key lives in memory only; it is good for a day.

use super::CertificateError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    PKCS_ECDSA_P256_SHA256, PublicKeyData, SerialNumber,
};
use rustls::crypto::SecureRandom;
use rustls::pki_types::CertificateDer;
use time::OffsetDateTime;

use crate::model::{Digest, clock};

/// Clocks of test processes may be a little behind.
const BACK_DATED: i64 = 3600;

/// How long the authority and its leaves are good for.
const LIFETIME: i64 = 24 * 3600;

/// Makes and signs certificates.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
    pem: String,
    spki: String,
}

impl Authority {
    /// Makes a new one.
    pub fn new() -> Result<Self, CertificateError> {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let spki = STANDARD.encode(Digest::of(&key.subject_public_key_info()).as_bytes());
        let mut params = params()?;
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.distinguished_name = named("qa-pilot run authority");
        let certificate = params.self_signed(&key)?;
        Ok(Self {
            pem: certificate.pem(),
            certificate: certificate.der().clone(),
            spki,
            issuer: Issuer::new(params, key),
        })
    }

    /// The certificate.
    pub fn certificate(&self) -> &CertificateDer<'static> {
        &self.certificate
    }

    /// The certificate as a file.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// The base64 SHA-256 of the public key, as Chromium's `--ignore-certificate-errors-spki-list` takes it.
    pub fn spki(&self) -> &str {
        &self.spki
    }

    pub(super) fn issuer(&self) -> &Issuer<'static, KeyPair> {
        &self.issuer
    }
}

/// Parameters with this run's validity and a serial of their own.
pub(super) fn params() -> Result<CertificateParams, CertificateError> {
    let mut params = CertificateParams::default();
    let now = clock::now().as_second();
    let time = |seconds| {
        OffsetDateTime::from_unix_timestamp(seconds)
            .map_err(|error| CertificateError::Make(error.to_string()))
    };
    params.not_before = time(now - BACK_DATED)?;
    params.not_after = time(now + LIFETIME)?;
    let mut serial = [0; 16];
    random(&mut serial)?;
    // A positive number that is never short.
    serial[0] = serial[0] & 0x7f | 0x40;
    params.serial_number = Some(SerialNumber::from_slice(&serial));
    Ok(params)
}

pub(super) fn named(name: &str) -> DistinguishedName {
    let mut distinguished = DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    distinguished
}

fn random(bytes: &mut [u8]) -> Result<(), CertificateError> {
    let random: &dyn SecureRandom = rustls::crypto::ring::default_provider().secure_random;
    random.fill(bytes).map_err(|_| CertificateError::Make("no randomness".into()))
}
