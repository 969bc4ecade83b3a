import type { DeployBranch } from './branch';
import { listClusters, getDefinition, findClusterPath, type CommitState } from './commitState';
import type { FieldPlace } from './deployConfig';
import { FieldError, readFileField } from './fileField';

/** The values of fields at a revision. */

/** The value of a field, or the reason why it has none that could be changed. */
export type FieldReading = { readonly value: string } | { readonly trouble: string };

/** By unit and slot. */
export type Readings = ReadonlyMap<string, ReadonlyMap<number, FieldReading>>;

/** Reads fields; a file that has not changed is not parsed again. */
export class FieldReader {
  private known = new Map<string, { readonly text: string; readonly reading: FieldReading }>();

  constructor(private readonly branch: DeployBranch) {}

  /** The fields of all clusters of these units. */
  async readUnits(revision: string, state: CommitState, units: readonly string[]): Promise<Readings> {
    const places = units.flatMap((unit) =>
      listClusters(state, unit).flatMap((_, index) => {
        const path = findClusterPath(state, unit, index);
        return path === undefined ? [] : [{ unit, index, path, field: getDefinition(state, unit).field }];
      }),
    );
    const found = await this.readAll(revision, places);
    const readings = new Map(units.map((unit) => [unit, new Map<number, FieldReading>()]));
    places.forEach(({ unit, index }, nth) => {
      const reading = found[nth];
      if (reading) readings.get(unit)?.set(index, reading);
    });
    return readings;
  }

  /** One field. */
  async readOne(revision: string, path: string, field: FieldPlace): Promise<FieldReading> {
    const [reading] = await this.readAll(revision, [{ path, field }]);
    return reading ?? { trouble: `${path} cannot be read` };
  }

  /** Fields in the order of their places. */
  async readAll(
    revision: string,
    places: readonly { readonly path: string; readonly field: FieldPlace }[],
  ): Promise<readonly FieldReading[]> {
    if (places.length === 0) return [];
    const files = await this.branch.read(revision, [...new Set(places.map(({ path }) => path))]);
    if (this.known.size > MOST_KNOWN) this.known = new Map();
    return places.map(({ path, field }) => {
      const file = files.get(path) ?? { trouble: `${path} is missing` };
      return 'trouble' in file ? file : this.parse(file.text, path, field);
    });
  }

  private parse(text: string, path: string, field: FieldPlace): FieldReading {
    const key = `${path} ${JSON.stringify(field)}`;
    const before = this.known.get(key);
    if (before?.text === text) return before.reading;
    const reading = readOrExplain(text, path, field);
    this.known.set(key, { text, reading });
    return reading;
  }
}

/** The values without those that cannot be read. */
export const pickReadValues = (readings: ReadonlyMap<number, FieldReading> | undefined): ReadonlyMap<number, string> =>
  new Map([...(readings ?? [])].flatMap(([index, one]) => ('value' in one ? [[index, one.value] as const] : [])));

export function readOrExplain(text: string, path: string, field: FieldPlace): FieldReading {
  try {
    return { value: readFileField(text, field) };
  } catch (error) {
    if (error instanceof FieldError) return { trouble: `${path}: ${error.message}` };
    throw error;
  }
}

const MOST_KNOWN = 2_000;
