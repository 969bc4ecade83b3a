import type { ConveyorClient } from '../client/api';
import { lastKnown } from '../client/lastKnown';
import { ConveyorError } from '../domain/errors';
import { deployTable, pipelineTable, releaseTable } from '../render/lists';
import type { View } from '../render/paint';
import { forPeople } from '../render/times';
import type { Io } from './io';
import type { Output } from './output';

/** The number of rows shown. */
const LAST_KNOWN_ROWS = 10;

/**
 * If no worker answers, people first see the last state in Temporal's visibility, and then the error. Programs get only
 * the error. @throws temporal-unreachable if the server is silent
 */
export async function withLastKnownFallback<T>(
  { io, output, client }: { readonly io: Io; readonly output: Output; readonly client: ConveyorClient },
  id: string,
  ask: () => Promise<T>,
): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (output.human && error instanceof ConveyorError && error.code === 'no-worker')
      // Listing needs no worker, so if it fails too, its error is the real one.
      io.stdout.write(await renderLastKnown(client, id, output));
    throw error;
  }
}

async function renderLastKnown(client: ConveyorClient, id: string, output: Output): Promise<string> {
  const { pipelines, releases, deploys } = await lastKnown(client, id);
  const view = output.view();
  // Empty tables are left out: an object may merely be too old for the lists.
  const shown = <T>(rows: readonly T[], table: (rows: readonly T[], view: View) => string): string[] =>
    rows.length === 0 ? [] : [table(forPeople(rows.slice(0, LAST_KNOWN_ROWS), view), view)];
  const tables = [...shown(pipelines, pipelineTable), ...shown(releases, releaseTable), ...shown(deploys, deployTable)];
  return tables.length === 0
    ? ''
    : `${['No worker answers. Last state known to the Temporal server:', ...tables].join('\n\n')}\n\n`;
}
