//! Points: coordinates in one of Cypher's four coordinate systems.
//!
//! Invariants: coordinates are finite; on WGS 84 a latitude lies within 90 degrees and a longitude
//! within 180, into which a longer way around is turned, as Cypher's `point()` has it.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use hopdb_storage::codec::key;

use super::error::TextError;
use super::map;

/// A coordinate reference system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Crs {
    /// Longitude and latitude in degrees.
    Wgs84,
    /// Longitude and latitude in degrees, height in metres.
    Wgs84Height,
    /// x and y.
    Cartesian2d,
    /// x, y and z.
    Cartesian3d,
}

impl Crs {
    /// All of them, by SRID.
    pub const ALL: [Self; 4] =
        [Self::Wgs84, Self::Wgs84Height, Self::Cartesian2d, Self::Cartesian3d];

    /// The name that Cypher has for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Wgs84 => "wgs-84",
            Self::Wgs84Height => "wgs-84-3d",
            Self::Cartesian2d => "cartesian",
            Self::Cartesian3d => "cartesian-3d",
        }
    }

    /// The number of the system.
    #[must_use]
    pub fn srid(self) -> u32 {
        match self {
            Self::Wgs84 => 4326,
            Self::Wgs84Height => 4979,
            Self::Cartesian2d => 7203,
            Self::Cartesian3d => 9157,
        }
    }

    /// How many coordinates a point has: two or three.
    #[must_use]
    pub fn dimensions(self) -> usize {
        match self {
            Self::Wgs84 | Self::Cartesian2d => 2,
            Self::Wgs84Height | Self::Cartesian3d => 3,
        }
    }

    fn is_geographic(self) -> bool {
        matches!(self, Self::Wgs84 | Self::Wgs84Height)
    }

    fn of(geographic: bool, dimensions: usize) -> Self {
        match (geographic, dimensions) {
            (true, 3) => Self::Wgs84Height,
            (true, _) => Self::Wgs84,
            (false, 3) => Self::Cartesian3d,
            (false, _) => Self::Cartesian2d,
        }
    }
}

impl FromStr for Crs {
    type Err = TextError;

    /// Reads a name, in any case, or an SRID.
    fn from_str(text: &str) -> Result<Self, TextError> {
        let matches =
            |crs: &Self| crs.name().eq_ignore_ascii_case(text) || text.parse() == Ok(crs.srid());
        Self::ALL.into_iter().find(matches).ok_or_else(|| {
            TextError::new(format!(
                "{text:?} is no coordinate system; use cartesian, cartesian-3d, wgs-84 or wgs-84-3d"
            ))
        })
    }
}

/// A point in a coordinate system.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    crs: Crs,
    /// The third is zero where there are two.
    coordinates: [f64; 3],
}

impl Point {
    /// A point; on WGS 84 the longitude comes first.
    ///
    /// # Errors
    /// When there are not as many coordinates as the system has, one is not finite, or the latitude
    /// is more than 90 degrees.
    pub fn new(crs: Crs, coordinates: &[f64]) -> Result<Self, TextError> {
        if coordinates.len() != crs.dimensions() {
            let (name, wanted) = (crs.name(), crs.dimensions());
            let (found, other) = (coordinates.len(), Crs::of(crs.is_geographic(), 5 - wanted));
            return Err(TextError::new(format!(
                "{name} has {wanted} coordinates, not {found}; is it {}?",
                other.name()
            )));
        }
        if !coordinates.iter().all(|coordinate| coordinate.is_finite()) {
            return Err(TextError::new("its coordinates must be finite"));
        }
        let mut all = [0.0; 3];
        all[..coordinates.len()].copy_from_slice(coordinates);
        if crs.is_geographic() {
            if !(-90.0..=90.0).contains(&all[1]) {
                return Err(TextError::new(format!(
                    "its latitude is {:?}, not within -90 and 90; are the two swapped?",
                    all[1]
                )));
            }
            all[0] = turned(all[0]);
        }
        Ok(Self { crs, coordinates: all })
    }

    /// The coordinate system.
    #[must_use]
    pub fn crs(&self) -> Crs {
        self.crs
    }

    /// The two or three coordinates.
    #[must_use]
    pub fn coordinates(&self) -> &[f64] {
        &self.coordinates[..self.crs.dimensions()]
    }

    /// Reads a map as [`FromStr`] does; what it does not say is taken from `defaults`.
    ///
    /// # Errors
    /// Why it is no point.
    pub fn parse_with(text: &str, defaults: &PointParts) -> Result<Self, TextError> {
        let mut parts = *defaults;
        parts.read(text)?;
        parts.point()
    }

    pub(super) fn key(&self) -> key::Point {
        let [x, y, z] = self.coordinates;
        match self.crs {
            Crs::Wgs84 => key::Point::Wgs84([x, y]),
            Crs::Wgs84Height => key::Point::Wgs84Height([x, y, z]),
            Crs::Cartesian2d => key::Point::Cartesian2d([x, y]),
            Crs::Cartesian3d => key::Point::Cartesian3d([x, y, z]),
        }
    }

    fn bits(&self) -> [u64; 3] {
        self.coordinates.map(f64::to_bits)
    }
}

/// A longitude turned into -180 to 180, staying on its side of zero at the border.
fn turned(longitude: f64) -> f64 {
    if (-180.0..=180.0).contains(&longitude) {
        return longitude;
    }
    let turned = (longitude + 180.0).rem_euclid(360.0) - 180.0;
    if turned == -180.0 && longitude > 0.0 { 180.0 } else { turned }
}

impl PartialEq for Point {
    /// Stored equality: 0.0 and -0.0 differ.
    fn eq(&self, other: &Self) -> bool {
        self.crs == other.crs && self.bits() == other.bits()
    }
}

impl Eq for Point {}

impl Hash for Point {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.crs.hash(state);
        self.bits().hash(state);
    }
}

impl fmt::Display for Point {
    /// The map from which Cypher's `point()` makes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (name, coordinate) in ["x", "y", "z"].into_iter().zip(self.coordinates()) {
            write!(f, "{name}: {coordinate:?}, ")?;
        }
        write!(f, "crs: '{}'}}", self.crs.name())
    }
}

impl FromStr for Point {
    type Err = TextError;

    /// Reads `{x: 1, y: 2, z: 3}` or `{latitude: 1, longitude: 2, height: 3}`, also with `crs` or
    /// `srid`; keys in any case, keys and values in any quotes or none. Without a system it is that
    /// which has such coordinates.
    fn from_str(text: &str) -> Result<Self, TextError> {
        Self::parse_with(text, &PointParts::default())
    }
}

/// What a map says of a point: all of it, or the defaults of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PointParts {
    x: Option<f64>,
    y: Option<f64>,
    z: Option<f64>,
    longitude: Option<f64>,
    latitude: Option<f64>,
    height: Option<f64>,
    crs: Option<Crs>,
}

impl PointParts {
    /// Whether nothing is said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Takes over what the map `text` says.
    fn read(&mut self, text: &str) -> Result<(), TextError> {
        map::for_each_entry(text, |key, value| self.set(key, value))
    }

    /// Takes over one entry of a map.
    ///
    /// # Errors
    /// When there is no such key, or the value is not one for it.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), TextError> {
        let mut lower = [0; 9];
        let name = match lower.get_mut(..key.len()) {
            Some(name) => {
                name.copy_from_slice(key.as_bytes());
                name.make_ascii_lowercase();
                &*name
            }
            None => &[],
        };
        let part = match name {
            b"crs" | b"srid" => {
                self.crs = Some(value.parse()?);
                return Ok(());
            }
            b"x" => &mut self.x,
            b"y" => &mut self.y,
            b"z" => &mut self.z,
            b"longitude" => &mut self.longitude,
            b"latitude" => &mut self.latitude,
            b"height" => &mut self.height,
            _ => {
                return Err(TextError::new(format!(
                    "a point has no {key:?}; it has x, y, z or longitude, latitude, height, and crs"
                )));
            }
        };
        let number = value.parse();
        *part = Some(
            number.map_err(|_| TextError::new(format!("its {key} is {value:?}, not a number")))?,
        );
        Ok(())
    }

    fn point(self) -> Result<Point, TextError> {
        let one = |plain: Option<f64>, earthly: Option<f64>, name| match (plain, earthly) {
            (Some(_), Some(_)) => {
                Err(TextError::new(format!("it has two coordinates for the {name}")))
            }
            _ => Ok(plain.or(earthly)),
        };
        let x = one(self.x, self.longitude, "longitude")?;
        let y = one(self.y, self.latitude, "latitude")?;
        let z = one(self.z, self.height, "height")?;
        let (Some(x), Some(y)) = (x, y) else {
            return Err(TextError::new("it needs x and y, or longitude and latitude"));
        };
        let geographic = self.longitude.or(self.latitude).or(self.height).is_some();
        let dimensions = if z.is_some() { 3 } else { 2 };
        let crs = self.crs.unwrap_or_else(|| Crs::of(geographic, dimensions));
        if geographic && !crs.is_geographic() {
            return Err(TextError::new(format!(
                "longitude, latitude and height are none of {}; write x, y and z",
                crs.name()
            )));
        }
        Point::new(crs, &[x, y, z.unwrap_or_default()][..dimensions])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(text: &str) -> String {
        match text.parse::<Point>() {
            Ok(point) => point.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn maps_are_points() {
        for (text, point) in [
            ("{x:1, y:2}", "{x: 1.0, y: 2.0, crs: 'cartesian'}"),
            ("{X: 1, 'y': \"-2e3\", z: 0}", "{x: 1.0, y: -2000.0, z: 0.0, crs: 'cartesian-3d'}"),
            ("{latitude: 1, Longitude: 2}", "{x: 2.0, y: 1.0, crs: 'wgs-84'}"),
            (
                "{latitude: 1, longitude: 2, height: 3, crs: 'WGS-84-3D'}",
                "{x: 2.0, y: 1.0, z: 3.0, crs: 'wgs-84-3d'}",
            ),
            ("{y:51.5, x:-0.1275, srid: 4326}", "{x: -0.1275, y: 51.5, crs: 'wgs-84'}"),
            ("{latitude: 1, longitude: 540}", "{x: 180.0, y: 1.0, crs: 'wgs-84'}"),
            ("{latitude: 1, longitude: -540}", "{x: -180.0, y: 1.0, crs: 'wgs-84'}"),
            ("{latitude: 1, longitude: 350}", "{x: -10.0, y: 1.0, crs: 'wgs-84'}"),
            ("{latitude: 1, longitude: -350}", "{x: 10.0, y: 1.0, crs: 'wgs-84'}"),
        ] {
            assert_eq!(said(text), point, "{text}");
        }
    }

    #[test]
    fn wrong_points_are_named() {
        for (text, reason) in [
            ("1,2", "it does not stand in braces"),
            ("{x: 1}", "it needs x and y, or longitude and latitude"),
            ("{x: a, y: 1}", "its x is \"a\", not a number"),
            ("{x: 1, longitude: 2, y: 1}", "it has two coordinates for the longitude"),
            ("{x: 1, y: 2, w: 3}", "a point has no \"w\""),
            ("{x: 1, y: NaN}", "its coordinates must be finite"),
            ("{latitude: 91, longitude: 0}", "its latitude is 91.0, not within -90 and 90"),
            ("{x: 1, y: 2, crs: moon}", "\"moon\" is no coordinate system; use cartesian"),
            ("{x: 1, y: 2, crs: wgs-84-3d}", "wgs-84-3d has 3 coordinates, not 2; is it wgs-84?"),
            ("{x: 1, y: 2, z: 3, crs: cartesian}", "is it cartesian-3d?"),
            ("{latitude: 1, longitude: 2, crs: cartesian}", "none of cartesian; write x, y and z"),
        ] {
            assert!(said(text).contains(reason), "{text}: {}", said(text));
        }
    }

    #[test]
    fn defaults_are_overridden() {
        let mut defaults = PointParts::default();
        defaults.set("crs", "WGS-84").unwrap();
        let read = |text| Point::parse_with(text, &defaults).unwrap().crs();
        assert_eq!(read("{y:51.507222, x:-0.1275}"), Crs::Wgs84);
        assert_eq!(read("{latitude:1, longitude:2, height:3, crs:'WGS-84-3D'}"), Crs::Wgs84Height);
    }

    proptest! {
        #[test]
        fn longitudes_end_within_half_a_turn(longitude in -1e6..1e6) {
            let point = Point::new(Crs::Wgs84, &[longitude, 0.0]).unwrap();
            let [turned, _] = *point.coordinates() else { panic!("it has two") };
            prop_assert!((-180.0..=180.0).contains(&turned));
            let turns = (longitude - turned) / 360.0;
            prop_assert!((turns - turns.round()).abs() < 1e-6, "{} {}", longitude, turned);
        }
    }
}
