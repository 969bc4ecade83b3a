import { renameSync, writeFileSync } from 'node:fs';
import { startName, type State } from '../../../sdk/updates';

/**
 * Writes what Prometheus scrapes (`file_sd_configs`): every copy that is there, under the identifier of its task, which keeps its metrics
 * apart from those of the start before. A file that is half written would hide half of the copies, so it is exchanged as a whole.
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
