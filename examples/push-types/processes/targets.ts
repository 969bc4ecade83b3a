import { renameSync, writeFileSync } from 'node:fs';
import { startName, type State } from '../../../sdk/updates';

/**
 * Writes the scrape targets of Prometheus (`file_sd_configs`): every known copy, under the identifier of its task, which separates its metrics from
 * those of the previous start. A half-written file would hide half of the copies, so the file is replaced as a whole.
 */
export function writeTargets(file: string, state: State, address: (task: string) => string | undefined): void {
  const groups = Object.entries(state.units).flatMap(([unit, { slots }]) =>
    slots.flatMap(({ state: now, version, start }, index) => {
      const task = startName(unit, index, start);
      const place = now === 'updating' ? undefined : address(task);
      return place === undefined ? [] : [{ targets: [place], labels: { task, unit, version } }];
    }),
  );
  writeFileSync(`${file}.new`, `${JSON.stringify(groups, null, 2)}\n`);
  renameSync(`${file}.new`, file);
}
