/** A property of the people in a row of houses. */
export interface Attribute {
  readonly name: string;
  /** Six values with the phrase that stands for whoever has it. */
  readonly values: readonly (readonly [value: string, phrase: string])[];
}

const named = (name: string, values: readonly string[], phrase: (value: string) => string): Attribute => ({
  name,
  values: values.map((value) => [value, phrase(value)] as const),
});

/** The first attribute of every puzzle. */
export const names: Attribute = named(
  'Name',
  ['Ada', 'Boris', 'Chloe', 'Dario', 'Edith', 'Farid'],
  (name) => name,
);

/** Attributes that puzzles choose from. */
export const attributes: readonly Attribute[] = [
  named('Pet', ['cat', 'dog', 'parrot', 'rabbit', 'turtle', 'goldfish'], (pet) => `the owner of the ${pet}`),
  named(
    'Drink',
    ['tea', 'coffee', 'milk', 'juice', 'water', 'cocoa'],
    (drink) => `the one who drinks ${drink}`,
  ),
  named('Job', ['baker', 'nurse', 'pilot', 'teacher', 'plumber', 'judge'], (job) => `the ${job}`),
  named(
    'Door',
    ['red', 'blue', 'green', 'yellow', 'white', 'black'],
    (door) => `whoever has the ${door} door`,
  ),
  named(
    'Instrument',
    ['piano', 'violin', 'flute', 'drums', 'harp', 'guitar'],
    (each) => `the one who plays the ${each}`,
  ),
  named(
    'Fruit',
    ['apple', 'pear', 'cherry', 'plum', 'grape', 'mango'],
    (fruit) => `whoever likes the ${fruit} best`,
  ),
  named(
    'Sport',
    ['tennis', 'chess', 'rowing', 'judo', 'golf', 'archery'],
    (sport) => `the one who goes in for ${sport}`,
  ),
  named(
    'Month',
    ['January', 'March', 'May', 'July', 'August', 'October'],
    (month) => `the one born in ${month}`,
  ),
  named(
    'Vehicle',
    ['bicycle', 'tram', 'van', 'scooter', 'boat', 'taxi'],
    (each) => `the one who goes by ${each}`,
  ),
];
