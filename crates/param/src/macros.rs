//! The macros that declare.

/// Declares a struct of parameters. A field is a key of the same name:
///
/// - `name: Type = default, in range;` may be left out,
/// - `name: Type => expression, in range;` follows from the keys above where it is left out,
/// - `name: Type, in range;` must be stated, unless `Type` is an `Option`.
///
/// `in` is left out where a type has no range. The first paragraph of a documentation comment is
/// the sentence of the reference. A field whose type is such a struct stands for its keys; with
/// `struct Name as "noun"` it is a table of its own.
///
/// A field whose type is a [`choice!`](crate::choice) without a noun is the tag of the table: its
/// words have keys of their own beside those of the struct. With `struct Name as "noun" or tag` the
/// word of the tag alone may stand for the table.
///
/// `rules function;` after the struct names a `fn(&Self) -> Vec<Issue>`: what must hold between
/// keys.
#[macro_export]
macro_rules! params {
    (
        $(#[doc = $doc:expr])*
        $(#[derive($($derive:ident),*)])?
        $vis:vis struct $name:ident $(as $noun:literal $(or $tag:ident)?)? {$(
            $(#[doc = $key_doc:expr])*
            $key:ident : $type:ty $(= $default:expr)? $(=> $derived:expr)? $(, in $limits:expr)? ;
        )*}
        $(rules $rules:expr;)?
    ) => {
        $(#[doc = $doc])*
        $(#[derive($($derive),*)])?
        $vis struct $name {$(
            $(#[doc = $key_doc])*
            pub $key: $type,
        )*}

        $crate::params!(@default $name $($key $type {$($default)? $($derived)?})*);

        impl $name {
            /// The keys, with the defaults of `given` if there are any, else those declared.
            #[allow(unused_mut, unused_variables)]
            fn declared_keys(given: Option<&Self>) -> Vec<$crate::Key> {
                let mut keys = Vec::new();
                $({
                    let usual: Option<$type> = $crate::params!(@usual $($default)?);
                    let meant = given.map(|given| &given.$key).or(usual.as_ref());
                    keys.extend($crate::field_keys::<$type>(
                        stringify!($key),
                        &[$($key_doc),*],
                        $crate::params!(@given meant $($derived)?),
                        $crate::params!(@limits $type $(, $limits)?),
                    ));
                })*
                keys
            }

            /// The tag, if a field is one.
            #[allow(unused_mut, unused_variables)]
            fn declared_tag(given: Option<&Self>) -> Option<$crate::Tag> {
                let mut tag = None;
                $(
                    let usual: Option<$type> = $crate::params!(@usual $($default)?);
                    let meant = given.map(|given| &given.$key).or(usual.as_ref());
                    tag = tag.or_else(|| <$type as $crate::Param>::tag(meant));
                )*
                tag
            }

            /// Those of the keys that follow from others.
            #[allow(unused_mut)]
            fn derived_keys() -> Vec<&'static str> {
                let mut derived: Vec<&'static str> = Vec::new();
                $(
                    $crate::params!(@derived derived $key $($derived)?);
                    derived.extend(<$type as $crate::Param>::derived());
                )*
                derived
            }
        }

        impl $crate::Params for $name {
            fn spec() -> &'static $crate::Spec {
                static SPEC: std::sync::OnceLock<$crate::Spec> = std::sync::OnceLock::new();
                SPEC.get_or_init(|| $crate::Spec {
                    doc: $crate::paragraph(&[$($doc),*]),
                    keys: Self::declared_keys(None).leak(),
                    tag: Self::declared_tag(None),
                    derived: Self::derived_keys().leak(),
                    rules: <Self as $crate::Params>::rules(),
                })
            }
            fn as_defaults(&self) -> $crate::Spec {
                $crate::Spec {
                    keys: Self::declared_keys(Some(self)).leak(),
                    tag: Self::declared_tag(Some(self)),
                    ..*Self::spec()
                }
            }
            fn read(values: &$crate::Values) -> Result<Self, $crate::Mismatch> {
                $(let $key: $type = $crate::params!(@read values $key $type [$($derived)?]);)*
                Ok(Self { $($key),* })
            }
            fn write(&self) -> $crate::Values {
                let mut values = $crate::Values::default();
                $($crate::Param::write(&self.$key, stringify!($key), &mut values);)*
                values
            }
            fn issues(&self) -> Vec<$crate::Issue> {
                let mut issues = Vec::new();
                $(issues.extend($crate::Param::group_issues(&self.$key));)*
                $(issues.extend($rules(self));)?
                issues
            }
        }

        $crate::params!(@field $name [$($noun $($tag)?)?] $($key)*);
    };
    // As a field of another struct it stands for its keys.
    (@field $name:ident [] $($key:ident)*) => {
        impl $crate::Param for $name {
            type Limits = ();
            fn kind((): ()) -> Option<$crate::Kind> {
                None
            }
            fn from_value(_: &$crate::Value) -> Option<Self> {
                None
            }
            fn to_value(&self) -> Option<$crate::Value> {
                None
            }
            fn keys(
                _: &'static str,
                _: &'static str,
                given: $crate::Given<'_, Self>,
                (): (),
            ) -> Vec<$crate::Key> {
                match given {
                    $crate::Given::Default(given) => Self::declared_keys(Some(given)),
                    _ => Self::declared_keys(None),
                }
            }
            fn read(
                values: &$crate::Values,
                _: &'static str,
            ) -> Result<Option<Self>, $crate::Mismatch> {
                <Self as $crate::Params>::read(values).map(Some)
            }
            fn write(&self, _: &'static str, values: &mut $crate::Values) {
                $($crate::Param::write(&self.$key, stringify!($key), values);)*
            }
            fn tag(given: Option<&Self>) -> Option<$crate::Tag> {
                Self::declared_tag(given)
            }
            fn derived() -> Vec<&'static str> {
                Self::derived_keys()
            }
            fn group_issues(&self) -> Vec<$crate::Issue> {
                $crate::Params::issues(self)
            }
        }
    };
    // As a field of another struct it is a table.
    (@field $name:ident [$noun:literal $($tag:ident)?] $($key:ident)*) => {
        impl $crate::Table for $name {
            const NOUN: &'static str = $noun;
            fn section() -> &'static $crate::Section {
                static SECTION: std::sync::OnceLock<$crate::Section> = std::sync::OnceLock::new();
                SECTION.get_or_init(|| <Self as $crate::Params>::spec().section($noun))
            }
        }

        impl $crate::Param for $name {
            type Limits = ();
            fn kind((): ()) -> Option<$crate::Kind> {
                Some($crate::params!(@kind $($tag)?)(<Self as $crate::Table>::section()))
            }
            fn from_value(value: &$crate::Value) -> Option<Self> {
                match value {
                    $crate::Value::Table(values) => <Self as $crate::Params>::read(values).ok(),
                    _ => None,
                }
            }
            fn to_value(&self) -> Option<$crate::Value> {
                Some($crate::Value::Table($crate::Params::write(self)))
            }
            fn keys(
                name: &'static str,
                doc: &'static str,
                given: $crate::Given<'_, Self>,
                (): (),
            ) -> Vec<$crate::Key> {
                let section = match given {
                    // The struct around it means other defaults.
                    $crate::Given::Default(given) => &*Box::leak(Box::new($crate::Section {
                        keys: Self::declared_keys(Some(given)).leak(),
                        tag: Self::declared_tag(Some(given)),
                        ..*<Self as $crate::Table>::section()
                    })),
                    _ => <Self as $crate::Table>::section(),
                };
                $crate::table_key(name, doc, $crate::params!(@kind $($tag)?)(section))
            }
            fn read(
                values: &$crate::Values,
                name: &'static str,
            ) -> Result<Option<Self>, $crate::Mismatch> {
                let table = $crate::table(values, name)?;
                table.map(<Self as $crate::Params>::read).transpose()
            }
        }
    };
    (@kind) => { $crate::Kind::Table };
    (@kind $tag:ident) => { $crate::Kind::TableOrTag };
    // A struct has a default where each of its keys has one.
    (@default $name:ident $($key:ident $type:ty {$value:expr})*) => {
        impl Default for $name {
            fn default() -> Self {
                $(let $key: $type = $value;)*
                Self { $($key),* }
            }
        }
    };
    (@default $($other:tt)*) => {};
    (@derived $list:ident $key:ident $derived:expr) => { $list.push(stringify!($key)) };
    (@derived $list:ident $key:ident) => {};
    (@limits $type:ty) => { $crate::unbounded::<$type>() };
    (@limits $type:ty, $limits:expr) => { $limits };
    (@usual) => { None };
    (@usual $value:expr) => { Some($value) };
    (@given $meant:ident $derived:expr) => {{
        let _ = $meant;
        $crate::Given::Derived
    }};
    (@given $meant:ident) => {
        $meant.map_or($crate::Given::Required, $crate::Given::Default)
    };
    (@read $values:ident $key:ident $type:ty [$derived:expr]) => {
        match <$type as $crate::Param>::read($values, stringify!($key))? {
            Some(value) => value,
            None => $derived,
        }
    };
    (@read $values:ident $key:ident $type:ty []) => {
        <$type as $crate::Param>::read($values, stringify!($key))?
            .ok_or($crate::Mismatch { key: stringify!($key) })?
    };
}

/// Makes a type one of fields that are no keys: the program sets them, and reading gives the default.
#[macro_export]
macro_rules! no_key {
    ($type:ty) => {
        impl $crate::Param for $type {
            type Limits = ();
            fn kind((): ()) -> Option<$crate::Kind> {
                None
            }
            fn from_value(_: &$crate::Value) -> Option<Self> {
                None
            }
            fn to_value(&self) -> Option<$crate::Value> {
                None
            }
            fn read(_: &$crate::Values, _: &'static str) -> Result<Option<Self>, $crate::Mismatch> {
                Ok(Some(Self::default()))
            }
        }
    };
}

/// Declares an enum of words: `Variant = "word"`, further spellings after `|`.
#[macro_export]
macro_rules! words {
    (
        $(#[doc = $doc:expr])*
        $(#[derive($($derive:ident),*)])?
        $vis:vis enum $name:ident {$(
            $(#[$word_meta:meta])*
            $variant:ident = $word:literal $(| $alias:literal)*
        ),* $(,)?}
    ) => {
        $(#[doc = $doc])*
        $(#[derive($($derive),*)])?
        $vis enum $name {$(
            $(#[$word_meta])*
            $variant,
        )*}

        impl $name {
            /// The word of a file.
            #[allow(dead_code)]
            $vis const fn word(&self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        $crate::scalar!(
            $name,
            (),
            |()| $crate::Kind::Words {
                words: &[$($word),*],
                aliases: &[$($(($alias, $word)),*)*],
            },
            |value: &$crate::Value| match value {
                $crate::Value::Text(text) => match text.as_str() {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                },
                _ => None,
            },
            |value: &Self| Some($crate::Value::Text(value.word().to_owned()))
        );
    };
}

/// Declares an enum of one word or else a value: `Word = "word", Value(Type)`.
#[macro_export]
macro_rules! or_word {
    (
        $(#[doc = $doc:expr])*
        $(#[derive($($derive:ident),*)])?
        $vis:vis enum $name:ident {
            $(#[$word_meta:meta])*
            $variant:ident = $word:literal,
            $(#[$value_meta:meta])*
            $value:ident($type:ty) $(,)?
        }
    ) => {
        $(#[doc = $doc])*
        $(#[derive($($derive),*)])?
        $vis enum $name {
            $(#[$word_meta])*
            $variant,
            $(#[$value_meta])*
            $value($type),
        }

        $crate::scalar!(
            $name,
            <$type as $crate::Param>::Limits,
            |limits| {
                let inner = <$type as $crate::Param>::kind(limits)?;
                $crate::Kind::OrWord($word, Box::leak(Box::new(inner)))
            },
            |value: &$crate::Value| match value {
                $crate::Value::Text(text) if text == $word => Some(Self::$variant),
                other => <$type as $crate::Param>::from_value(other).map(Self::$value),
            },
            |value: &Self| match value {
                Self::$variant => Some($crate::Value::Text($word.to_owned())),
                Self::$value(value) => $crate::Param::to_value(value),
            }
        );
    };
}

/// Declares a table whose tag decides which keys it has: an enum with a variant for each word.
///
/// - `Variant = "word";` has no keys.
/// - `Variant = "word" { key: Type = default, in range; … }` has keys as in
///   [`params!`](crate::params); one without a default must be stated.
/// - `Variant = "word" (name: Struct = default);` has the keys of a struct of `params!`.
///
/// In a file the table may be given as the word of its tag alone. Without `as "noun"` it is the tag
/// of the struct that has it as a field.
///
/// `tag = Variant;` gives the default word and a `Default`, `tag: Variant;` the default word alone,
/// whose keys may then lack defaults; after `tag;` the word must be stated.
#[macro_export]
macro_rules! choice {
    (
        $(#[doc = $doc:expr])*
        $(#[derive($($derive:ident),*)])?
        $vis:vis enum $name:ident $(as $noun:literal)? {
            $(#[doc = $tag_doc:expr])*
            $tag:ident $(= $usual:ident)? $(: $usual_word:ident)? ;
            $(
                $(#[doc = $variant_doc:expr])*
                $variant:ident = $word:literal $({$(
                    $(#[doc = $key_doc:expr])*
                    $key:ident : $type:ty $(= $default:expr)? $(, in $limits:expr)? ;
                )*})? $(($group:ident : $struct:ty $(= $group_default:expr)?))? $(;)?
            )*
        }
    ) => {
        $(#[doc = $doc])*
        $(#[derive($($derive),*)])?
        $vis enum $name {$(
            $(#[doc = $variant_doc])*
            $variant $({$(
                $(#[doc = $key_doc])*
                $key: $type,
            )*})? $(($struct))?,
        )*}

        $crate::choice!(@usual $name [$($usual)?] $({
            $variant
            $({$($key $type {$($default)?})*})? $(($group $struct {$($group_default)?}))?
        })*);

        impl $name {
            /// The tag with its words; the defaults are those of `given` if there is one, else
            /// those declared.
            #[allow(unused_variables)]
            fn declared_tag(given: Option<&Self>) -> $crate::Tag {
                const USUAL: &str =
                    concat!($(stringify!($usual))? $(stringify!($usual_word))?);
                let mut usual: Option<&'static str> = None;
                $(if stringify!($variant) == USUAL { usual = Some($word); })*
                $(if let Some(Self::$variant { .. }) = given { usual = Some($word); })*
                let variants = vec![$({
                    #[allow(unused_mut)]
                    let mut keys: Vec<$crate::Key> = Vec::new();
                    $($({
                        let usual: Option<$type> = $crate::params!(@usual $($default)?);
                        let own = match given {
                            Some(Self::$variant { $key, .. }) => Some($key),
                            _ => None,
                        };
                        keys.extend($crate::field_keys::<$type>(
                            stringify!($key),
                            &[$($key_doc),*],
                            own.or(usual.as_ref())
                                .map_or($crate::Given::Required, $crate::Given::Default),
                            $crate::params!(@limits $type $(, $limits)?),
                        ));
                    })*)?
                    $({
                        let usual: Option<$struct> = $crate::params!(@usual $($group_default)?);
                        let own = match given {
                            Some(Self::$variant($group)) => Some($group),
                            _ => None,
                        };
                        keys.extend($crate::field_keys::<$struct>(
                            stringify!($group),
                            &[],
                            own.or(usual.as_ref())
                                .map_or($crate::Given::Required, $crate::Given::Default),
                            (),
                        ));
                    })?
                    $crate::Variant {
                        name: $word,
                        doc: $crate::paragraph(&[$($variant_doc),*]),
                        keys: keys.leak(),
                        rules: None,
                    }
                }),*];
                $crate::Tag {
                    key: stringify!($tag),
                    default: usual,
                    doc: $crate::paragraph(&[$($tag_doc),*]),
                    variants: variants.leak(),
                }
            }

            /// The word of the tag.
            #[allow(dead_code)]
            $vis const fn word(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $word,)*
                }
            }

            /// Reads the checked values of the table.
            ///
            /// # Errors
            ///
            /// A value that was not checked.
            $vis fn read_table(values: &$crate::Values) -> Result<Self, $crate::Mismatch> {
                match values.text(stringify!($tag)) {
                    $(Some($word) => {
                        $($(let $key: $type = $crate::choice!(
                            @read values $key $type [$($default)?]
                        );)*)?
                        $(let $group: $struct = $crate::params!(@read values $group $struct []);)?
                        Ok(Self::$variant $({ $($key),* })? $(($group))?)
                    })*
                    _ => Err($crate::Mismatch { key: stringify!($tag) }),
                }
            }

            /// Writes the tag and its keys.
            fn write_table(&self, table: &mut $crate::Values) {
                match self {
                    $(Self::$variant $({ $($key),* })? $(($group))? => {
                        table.set(
                            stringify!($tag),
                            $crate::Value::Text($word.to_owned()),
                        );
                        $($($crate::Param::write($key, stringify!($key), table);)*)?
                        $($crate::Param::write($group, stringify!($group), table);)?
                    })*
                }
            }
        }

        $crate::choice!(
            @field $name [$($noun)?] $crate::paragraph(&[$($doc),*])
        );
    };
    // As a field it is the tag of the struct around it.
    (@field $name:ident [] $doc:expr) => {
        impl $crate::Param for $name {
            type Limits = ();
            fn kind((): ()) -> Option<$crate::Kind> {
                None
            }
            fn from_value(_: &$crate::Value) -> Option<Self> {
                None
            }
            fn to_value(&self) -> Option<$crate::Value> {
                None
            }
            fn keys(
                _: &'static str,
                _: &'static str,
                _: $crate::Given<'_, Self>,
                (): (),
            ) -> Vec<$crate::Key> {
                Vec::new()
            }
            fn tag(given: Option<&Self>) -> Option<$crate::Tag> {
                Some(Self::declared_tag(given))
            }
            fn read(
                values: &$crate::Values,
                _: &'static str,
            ) -> Result<Option<Self>, $crate::Mismatch> {
                Self::read_table(values).map(Some)
            }
            fn write(&self, _: &'static str, values: &mut $crate::Values) {
                self.write_table(values);
            }
        }
    };
    // As a field it is a table.
    (@field $name:ident [$noun:literal] $doc:expr) => {
        impl $name {
            /// The table of a file.
            pub fn section() -> &'static $crate::Section {
                static SECTION: std::sync::OnceLock<$crate::Section> = std::sync::OnceLock::new();
                SECTION.get_or_init(|| $crate::Section {
                    noun: $noun,
                    doc: $doc,
                    keys: &[],
                    tag: Some(Self::declared_tag(None)),
                    rules: None,
                })
            }
        }

        impl $crate::Param for $name {
            type Limits = ();
            fn kind((): ()) -> Option<$crate::Kind> {
                Some($crate::Kind::TableOrTag(Self::section()))
            }
            fn from_value(value: &$crate::Value) -> Option<Self> {
                match value {
                    $crate::Value::Table(values) => Self::read_table(values).ok(),
                    _ => None,
                }
            }
            fn to_value(&self) -> Option<$crate::Value> {
                let mut table = $crate::Values::default();
                self.write_table(&mut table);
                Some($crate::Value::Table(table))
            }
            fn keys(
                name: &'static str,
                doc: &'static str,
                _: $crate::Given<'_, Self>,
                (): (),
            ) -> Vec<$crate::Key> {
                $crate::table_key(name, doc, $crate::Kind::TableOrTag(Self::section()))
            }
            fn read(
                values: &$crate::Values,
                name: &'static str,
            ) -> Result<Option<Self>, $crate::Mismatch> {
                $crate::table(values, name)?.map(Self::read_table).transpose()
            }
        }
    };
    (@usual $name:ident [] $($variant:tt)*) => {};
    (@usual $name:ident [$usual:ident] $({$($variant:tt)*})*) => {
        impl Default for $name {
            #[allow(non_snake_case, dead_code)]
            fn default() -> Self {
                $($crate::choice!(@default $name $($variant)*);)*
                $usual()
            }
        }
    };
    // The word with its defaults, where each of its keys has one.
    (@default $name:ident $variant:ident) => {
        fn $variant() -> $name {
            $name::$variant
        }
    };
    (@default $name:ident $variant:ident {$($key:ident $type:ty {$value:expr})*}) => {
        fn $variant() -> $name {
            $(let $key: $type = $value;)*
            $name::$variant { $($key),* }
        }
    };
    (@default $name:ident $variant:ident ($group:ident $struct:ty {$value:expr})) => {
        fn $variant() -> $name {
            $name::$variant($value)
        }
    };
    (@default $($other:tt)*) => {};
    (@read $values:ident $key:ident $type:ty [$default:expr]) => {
        match <$type as $crate::Param>::read($values, stringify!($key))? {
            Some(value) => value,
            None => $default,
        }
    };
    (@read $values:ident $key:ident $type:ty []) => {
        $crate::params!(@read $values $key $type [])
    };
}
