const solution = {
  'House 1': { Name: 'Mara', Pet: 'cat', Drink: 'cocoa' },
  'House 2': { Name: 'Jonas', Pet: 'parrot', Drink: 'juice' },
  'House 3': { Name: 'Lin', Pet: 'dog', Drink: 'coffee' },
};

const reasoning =
  'By clue 3 Jonas is in house 2. By clue 1 the dog is directly right of Jonas, in house 3. By clue 2 Mara, who drinks cocoa, is not in house 3, so she is in house 1 and Lin in house 3. By clue 4 the coffee is where the dog is, house 3, so the juice is in house 2. By clue 5 the parrot is not in house 1, so it is in house 2 and the cat in house 1.';

/** A puzzle of three houses with its answer, to show the form. */
export const EXAMPLE = `# Example Puzzle

There are 3 houses, numbered 1 to 3 from left to right. In each lives a different person, with a different pet and a different drink.
- Names: Jonas, Lin, Mara
- Pets: cat, dog, parrot
- Drinks: cocoa, coffee, juice

## Clues:
1. The dog is directly right of Jonas.
2. Mara drinks cocoa and is not in the third house.
3. Jonas is in the second house.
4. The person with the dog drinks coffee.
5. The parrot is not in the first house.

## Answer to the Example Puzzle

${JSON.stringify({ reasoning, solution }, null, 4)}`;
