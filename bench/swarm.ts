import { pieceBytesFor } from '../configerator/domain/vessel/package';
import type { SwarmFaults, SwarmReport } from '../simulator/vessel/options';
import { simulateSwarm } from '../simulator/vessel/swarm';
import { print, seconds } from './stack';

/**
 * `npx jiti bench/swarm.ts [hosts] [megabytes] [upload] [upload of the source] [seed]`: a package on its way to that many simulated hosts in four
 * regions, 25 in a rack, each of which decides as real ones do; the uploads are the limits of every host and of the source, in megabytes a second.
 * First without faults, then with them. For comparison, a single server with the same upload that is never idle and sends every piece to every host:
 * no single server is faster.
 */
const [HOSTS = 10_000, MEGABYTES = 256, UPLOAD = 64, SOURCE_UPLOAD = 128, SEED = 1] = process.argv.slice(2).map(Number);

const MB = 1024 * 1024;
const REGIONS = 4;
const FAULTS: SwarmFaults = {
  liars: 0.02,
  vanishing: 0.05,
  vanishWithinMs: 20_000,
  slow: 0.05,
  sourceGoneAtMs: 20_000,
};

function main(): void {
  const bytes = MEGABYTES * MB;
  // Pieces four times the usual size: a host decides once for each.
  const pieceBytes = Math.min(4 * MB, 4 * pieceBytesFor(bytes));
  const simulated = (faults: SwarmFaults) => {
    const began = performance.now();
    const report = simulateSwarm({
      ...{ seed: SEED, hosts: HOSTS, pieces: Math.ceil(bytes / pieceBytes), pieceBytes, faults },
      ...{ upload: UPLOAD * MB, sourceUpload: SOURCE_UPLOAD * MB, regions: REGIONS },
      ...{ racksPerRegion: Math.ceil(HOSTS / REGIONS / 25), spreadMs: 5000, untilMs: 600_000 },
    });
    return { ...report, took: performance.now() - began };
  };
  const alone = (HOSTS * bytes * 1000) / (SOURCE_UPLOAD * MB);
  print([
    ['hosts, megabytes, of a piece', `${HOSTS}, ${MEGABYTES}, ${pieceBytes / MB}`],
    ['megabytes a second: a host, the source', `${UPLOAD}, ${SOURCE_UPLOAD}`],
    ...rows('without faults', simulated({}), alone),
    ...rows('2% lie, 5% vanish, 5% are slow, the source dies after 20 s', simulated(FAULTS), alone),
    ['a server alone that is never idle: the last', seconds(alone)],
  ]);
}

function rows(name: string, report: SwarmReport & { readonly took: number }, alone: number): [string, string][] {
  const { whole, honest, median, p99, last, near, lies, decisions, violations } = report;
  return [
    [name, `${whole} of ${honest} whole, ${violations.length} violations`],
    ['… until the median host, 99 in 100, the last', [median, p99, last].map(seconds).join(', ')],
    ['… ratio to a server alone', (alone / last).toFixed(0)],
    ['… a piece was served by the source: mean, most', `${report.sourceMean.toFixed(2)}, ${report.sourceMost} times`],
    ['… from the same rack, the same region, elsewhere', near.map((it) => `${Math.round(it * 100)}%`).join(', ')],
    ['… thrown away since it did not fit', String(lies)],
    ['… decisions, time of this machine', `${decisions}, ${seconds(report.took)}`],
  ];
}

main();
