/** A part of a region that is down. */
export interface FleetFault extends FaultPlace {
  readonly id: string;
}

/** `x-m17`, `x-msb5`, `x-dc1` or a whole region; `index` is 17, 5, 1 or 0. */
export interface FaultPlace {
  readonly kind: 'machine' | 'msb' | 'datacentre' | 'region';
  readonly region: string;
  readonly index: number;
}

const MSBS = 12;
const MSBS_PER_DATACENTRE = 4;
const INFIX = { machine: 'm', msb: 'msb', datacentre: 'dc' } as const;

/** What a name of that kind means; undefined when it is not one. Regions may have any name. */
export function parsePlace(kind: FaultPlace['kind'], name: string): FaultPlace | undefined {
  if (kind === 'region') return { kind, region: name, index: 0 };
  const [, region, index] = new RegExp(`^(.+)-${INFIX[kind]}(\\d+)$`).exec(name) ?? [];
  return region === undefined ? undefined : { kind, region, index: Number(index) };
}

/**
 * Whether a place holds a machine of a region. Neighbouring machines hang on different main switch boards, so the tasks
 * of a job spread by themselves.
 */
export function covers(place: FaultPlace, region: string, machine: number): boolean {
  if (place.region !== region) return false;
  switch (place.kind) {
    case 'machine':
      return place.index === machine;
    case 'msb':
      return place.index === machine % MSBS;
    case 'datacentre':
      return place.index === Math.floor((machine % MSBS) / MSBS_PER_DATACENTRE);
    case 'region':
      return true;
  }
}
