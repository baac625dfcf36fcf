import { type Meter, stop } from './meter.js';
import { bounded, numberOf, order, truthOf } from './operators.js';
import { isList, type ProgramValue } from './value.js';

/** Applies one of the language's functions. */
export function applyFunction(name: string, args: readonly ProgramValue[], meter: Meter): ProgramValue {
  const [first = 0] = args;
  switch (name) {
    case 'abs':
      return Math.abs(numberOf(first, name));
    case 'bool':
      return truthOf(first);
    case 'int':
      return numberOf(first, name);
    case 'range':
      return rangeOf(
        args.map((arg) => numberOf(arg, name)),
        meter,
      );
    case 'max':
    case 'min':
      return extreme(name, args.length === 1 ? listOf(first, name) : args, meter);
    default:
      return overList(name, listOf(first, name), meter);
  }
}

function listOf(value: ProgramValue, name: string): readonly ProgramValue[] {
  if (isList(value)) return value;
  throw stop(`"${name}" wants a list`);
}

function overList(name: string, list: readonly ProgramValue[], meter: Meter): ProgramValue {
  meter.spend(list.length);
  switch (name) {
    case 'len':
      return list.length;
    case 'all':
      return list.every(truthOf);
    case 'any':
      return list.some(truthOf);
    case 'sorted':
      return list.toSorted((a, b) => order(a, b, meter));
    case 'sum':
      return list.reduce<number>((sum, each) => bounded(sum + numberOf(each, name)), 0);
    default:
      return [...list];
  }
}

/** The first of the greatest, or least. */
function extreme(name: 'max' | 'min', values: readonly ProgramValue[], meter: Meter): ProgramValue {
  const [first, ...rest] = values;
  if (first === undefined) throw stop(`"${name}" of an empty list`);
  return rest.reduce((best, each) => {
    const difference = order(each, best, meter);
    return (name === 'max' ? difference > 0 : difference < 0) ? each : best;
  }, first);
}

function rangeOf(bounds: readonly number[], meter: Meter): number[] {
  const [from = 0, to = 0] = bounds.length === 1 ? [0, bounds[0]] : bounds;
  const step = bounds[2] ?? 1;
  if (step === 0) throw stop('"range" has no step of 0');
  const count = Math.max(0, Math.ceil((to - from) / step));
  meter.spend(count);
  return Array.from({ length: count }, (_, i) => from + i * step);
}
