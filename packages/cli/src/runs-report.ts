import { type PublishedSource, readPlotlySource, writeSite } from '@perwatt/reports';

/** Writes the report of runs into a folder. */
export async function writeRunsReport(sources: readonly PublishedSource[], folder: string): Promise<void> {
  await writeSite(sources, folder, { plotlySource: await readPlotlySource() });
}
