/** A part of a region that is down. */
export interface PlaceFault extends FaultPlace {
  readonly id: string;
  /** The layout of its region; absent in a world from before regions could differ. */
  readonly layout?: RegionLayout;
  /** Once the scheduler gives up on a machine: the tasks that were there, by job. */
  moves: Map<string, number[]> | null;
}

/** The power layout of a region's machines. */
export interface RegionLayout {
  /** Main switch boards. */
  readonly msbs: number;
  /** The switch boards are divided evenly among these, neighbours together. */
  readonly datacentres: number;
}

/** The scheduler of a region is down: tasks that run continue, and nothing new begins. */
export interface SchedulerFault {
  readonly id: string;
  readonly kind: 'scheduler';
  readonly region: string;
}

/**
 * Planned work on machines. `noticed`: their tasks run, but nothing starts on them any more. `working`: they are down.
 * Times are ms since the epoch.
 */
export interface Maintenance {
  readonly id: string;
  readonly kind: 'maintenance';
  /** By region. */
  readonly machines: Map<string, Set<number>>;
  /** The tasks that were there when it was announced, by job. */
  readonly slots: Map<string, number[]>;
  readonly start: number;
  readonly deadline: number;
  /** ms of the world's clock. */
  readonly duration: number;
  phase: 'noticed' | 'working';
}

export type FleetFault = PlaceFault | SchedulerFault | Maintenance;

/** `x-m17`, `x-msb5`, `x-dc1` or a whole region; `index` is 17, 5, 1 or 0. */
export interface FaultPlace {
  readonly kind: 'machine' | 'msb' | 'datacentre' | 'region';
  readonly region: string;
  readonly index: number;
}

export const DEFAULT_LAYOUT: RegionLayout = { msbs: 12, datacentres: 3 };
/** Used if only the number of switch boards is given. */
export const MSBS_PER_DATACENTRE = 4;
const INFIX = { machine: 'm', msb: 'msb', datacentre: 'dc' } as const;

/** The place that a name of that kind denotes; undefined if it is not such a name. Regions may have any name. */
export function parsePlace(kind: FaultPlace['kind'], name: string): FaultPlace | undefined {
  if (kind === 'region') return { kind, region: name, index: 0 };
  const [, region, index] = new RegExp(`^(.+)-${INFIX[kind]}(\\d+)$`).exec(name) ?? [];
  return region === undefined ? undefined : { kind, region, index: Number(index) };
}

/** `x-m17`. */
export const machineName = (region: string, machine: number): string => `${region}-${INFIX.machine}${machine}`;

/**
 * Whether a fault covers a machine of a region. Neighbouring machines are on different main switch boards, so the tasks
 * of a job are spread without further effort.
 */
export function faultCovers(fault: FleetFault, region: string, machine: number): boolean {
  if (fault.kind === 'maintenance') return fault.machines.get(region)?.has(machine) ?? false;
  if (fault.region !== region) return false;
  const layout = ('layout' in fault && fault.layout) || DEFAULT_LAYOUT;
  switch (fault.kind) {
    case 'machine':
      return fault.index === machine;
    case 'msb':
      return fault.index === getMsb(layout, machine);
    case 'datacentre':
      return fault.index === Math.floor((getMsb(layout, machine) * layout.datacentres) / layout.msbs);
    case 'region':
      return true;
    case 'scheduler':
      return false;
  }
}

/** The main switch board of a machine. */
const getMsb = ({ msbs }: RegionLayout, machine: number): number => machine % msbs;
