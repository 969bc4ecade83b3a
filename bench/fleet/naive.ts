/** The naive way to simulate the same update: an object per task, and a loop over all of them each simulated second. */

interface PlainTask {
  readonly region: number;
  state: 'running' | 'updating';
  version: string;
  readyAt: number;
}

/** Updates a share of the tasks, a tenth of each region at a time, bakes, and returns the real ms that it took. */
export function stepNaively(count: number, regions: number, share: number, bakeMs: number): { ms: number } {
  const tasks: PlainTask[] = Array.from({ length: count }, (_, index) => ({
    ...{ region: index % regions, state: 'running', version: 'web:1', readyAt: 0 },
  }));
  const batch = count / regions / 10;
  const begun = performance.now();
  let left = count * share;
  let flying = 0;
  for (let now = 0; left > 0 || flying > 0 || now < bakeMs; now += 1000) {
    const inFlight = Array.from({ length: regions }, () => 0);
    for (const task of tasks) {
      if (task.state === 'updating' && task.readyAt <= now) task.state = 'running';
      if (task.state === 'updating') inFlight[task.region] = (inFlight[task.region] ?? 0) + 1;
    }
    flying = inFlight.reduce((sum, busy) => sum + busy, 0);
    const open = inFlight.map((busy) => (busy === 0 ? batch : 0));
    for (const task of left > 0 ? tasks : []) {
      if (left <= 0) break;
      if (task.version === 'web:2' || (open[task.region] ?? 0) <= 0) continue;
      open[task.region] = (open[task.region] ?? 0) - 1;
      left -= 1;
      Object.assign(task, { state: 'updating', version: 'web:2', readyAt: now + 8000 + 4000 * Math.random() });
    }
  }
  return { ms: Math.round(performance.now() - begun) };
}
