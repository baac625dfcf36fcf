import { type Decoded, decodeAmdsmiEnergy, decodeNvmlField } from '@perwatt/native-power';
import { acpiMeter, prometheusPage } from './decode-text.js';
import type { Fields } from './fields.js';
import { type Computed, unsupported } from './outcome.js';

/** Runs a `decode` fixture through the decoder of the source it names. */
export function decodeCase(input: Fields): Computed {
  const source = input.text('source');
  if (source === 'nvml-field') return nvmlField(input);
  if (source === 'amdsmi-counter') return amdsmiCounter(input);
  if (source === 'acpi-power-meter') return acpiMeter(input);
  if (source === 'prometheus') return prometheusPage(input);
  return unsupported(`no built decoder reads ${source}`);
}

/** Fields that count energy, mJ; the others that are asked for are powers, mW. */
const energies: readonly number[] = [83, 191];

function nvmlField(input: Fields): Computed {
  const answers = input.each('variants').map((variant) =>
    decodeNvmlField({
      status: variant.number('nvmlReturn'),
      kind: variant.number('valueType'),
      value: Buffer.from(variant.text('union_hex_le'), 'hex'),
    }),
  );
  const values = answers.map((answer) => scaled(answer, 1e3));
  const reasons = answers.map(({ missing }) => missing);
  return energies.includes(input.number('field')) ? { joules: values, reasons } : { watts: values, reasons };
}

function amdsmiCounter(input: Fields): Computed {
  const energy = decodeAmdsmiEnergy(BigInt(input.number('acc_delta')), input.number('resolution_uj'));
  return { joules: scaled(energy, 1e6), reason: energy.missing };
}

const scaled = ({ value }: Decoded, by: number): number | null =>
  value === null ? null : Number(value) / by;
