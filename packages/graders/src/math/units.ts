import { type Expr, integer, product, quotient, symbol } from './expr.js';

/** What a quantity is measured in. */
export interface Unit {
  /** Folded name; of a word that is no known unit, the word. */
  readonly name: string;
  /** What can be converted into it; the name itself where nothing else can. */
  readonly dimension: string;
  readonly power: number;
  /** Size in the dimension's base unit. */
  readonly factor: Expr;
}

type Row = readonly [dimension: string, top: number | bigint, bottom: number | bigint, names: string];

// biome-ignore format: a table is read in columns
const table: readonly Row[] = [
  ['length', 1, 1000000000,    'nm nanometer nanometre'],
  ['length', 1, 1000,          'mm millimeter millimetre'],
  ['length', 1, 100,           'cm centimeter centimetre'],
  ['length', 1, 10,            'dm decimeter decimetre'],
  ['length', 1, 1,             'm meter metre'],
  ['length', 1000, 1,          'km kilometer kilometre'],
  ['length', 254, 10000,       'in inch inches'],
  ['length', 3048, 10000,      'ft foot feet'],
  ['length', 9144, 10000,      'yd yard'],
  ['length', 1609344, 1000,    'mi mile'],
  ['volume', 1, 1000000,       'ml milliliter millilitre'],
  ['volume', 1, 1000,          'l liter litre'],
  ['volume_us', 1, 1,          'cup'],
  ['volume_us', 2, 1,          'pint'],
  ['volume_us', 4, 1,          'quart'],
  ['volume_us', 16, 1,         'gallon'],
  ['area_land', 1, 1,          'acre'],
  ['area_land_metric', 1, 1,   'hectare ha'],
  ['mass', 1, 1000,            'mg milligram'],
  ['mass', 1, 1,               'g gram gm'],
  ['mass', 1000, 1,            'kg kilogram kilo'],
  ['mass', 1000000, 1,         'tonne'],
  ['mass_us', 1, 1,            'oz ounce'],
  ['mass_us', 16, 1,           'lb lbs pound'],
  ['mass_us', 32000, 1,        'ton'],
  ['time', 1, 1000,            'ms millisecond'],
  ['time', 1, 1,               's sec second'],
  ['time', 60, 1,              'min minute'],
  ['time', 3600, 1,            'h hr hour'],
  ['time', 86400, 1,           'day'],
  ['time', 604800, 1,          'week'],
  ['calendar', 1, 1,           'month'],
  ['calendar', 12, 1,          'year yr'],
  ['usd', 1, 1,                'usd dollar buck'],
  ['usd', 1, 100,              'cent penny pennies'],
  ['eur', 1, 1,                'eur euro'],
  ['gbp', 1, 1,                'gbp'],
  ['jpy', 1, 1,                'yen jpy'],
  ['inr', 1, 1,                'rupee inr'],
  ['speed_us', 1, 1,           'mph'],
  ['speed', 1, 1,              'kph kmh'],
  ['energy', 1, 1,             'j joule'],
  ['energy', 1000, 1,          'kj kilojoule'],
  ['force', 1, 1,              'n newton'],
  ['power', 1, 1,              'w watt'],
  ['power', 1000, 1,           'kw kilowatt'],
  ['voltage', 1, 1,            'v volt'],
  ['frequency', 1, 1,          'hz hertz'],
  ['frequency', 1000, 1,       'khz kilohertz'],
  ['temperature_c', 1, 1,      'celsius'],
  ['temperature_f', 1, 1,      'fahrenheit'],
];

const known = new Map<string, Omit<Unit, 'power'>>();
for (const [dimension, top, bottom, names] of table) {
  const [name = '', ...others] = names.split(' ');
  for (const alias of [name, ...others])
    known.set(alias, { name, dimension, factor: quotient(integer(top), integer(bottom)) });
}
known.set('deg', {
  name: 'deg',
  dimension: 'angle',
  factor: quotient(product(symbol('pi')), integer(180)),
});
known.set('degree', { name: 'deg', dimension: 'angle', factor: quotient(symbol('pi'), integer(180)) });
for (const name of ['rad', 'radian'])
  known.set(name, { name: 'rad', dimension: 'angle', factor: integer(1) });
const currencies: Readonly<Record<string, string>> = {
  $: 'usd',
  '€': 'eur',
  '£': 'gbp',
  '¥': 'jpy',
  '₹': 'inr',
};

/** Singular of an English word, as far as the letters say. */
export const singular = (word: string): string =>
  word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;

function lookUp(word: string): Omit<Unit, 'power'> | undefined {
  return known.get(word) ?? known.get(singular(word));
}

/** Whether a bare word behind a number is a unit; a single letter is a variable instead. */
export const isUnitWord = (word: string): boolean =>
  word.length > 1 && (lookUp(word.toLowerCase()) !== undefined || counted.has(singular(word.toLowerCase())));

const counted: ReadonlySet<string> = new Set(
  'unit point student people person apple orange ball book car child children edge egg face game girl boy integer item letter marble member mph page pair piece player problem sheep solution square step term ticket time tile toy vertex vertices way word zero pencil pen coin card chair table dog cat bird fish tree flower cookie candy box bag digit'.split(
    ' ',
  ),
);

/** The unit of a currency sign. */
export const currencyUnit = (sign: string): Unit => readUnit(currencies[sign] ?? sign);

/** The unit that words and a power say: `square cm`, `cm^2`, `inches`, `apples`. */
export function readUnit(text: string, power = 1): Unit {
  const words = text
    .toLowerCase()
    .replaceAll(/[.\s]+/g, ' ')
    .trim();
  const match = /^(?<kind>square|sq|cubic|cu) (?<rest>.+)$/.exec(words);
  const lifted = { square: 2, sq: 2, cubic: 3, cu: 3 }[match?.groups?.['kind'] ?? ''] ?? 1;
  const name = match?.groups?.['rest'] ?? words;
  const unit = lookUp(name);
  if (unit !== undefined) return { ...unit, power: power * lifted };
  const label = words
    .split(' ')
    .map((word) => singular(word))
    .join(' ');
  return { name: label, dimension: label, power, factor: integer(1) };
}

const VOLUMES: Readonly<Record<string, true>> = { volume: true };

/** Dimension with its power; a litre is a cube of a length. */
export const dimensionOf = (unit: Unit): string =>
  VOLUMES[unit.dimension] === true && unit.power === 1 ? 'length^3' : `${unit.dimension}^${unit.power}`;
