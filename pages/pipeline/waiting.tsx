import type { PipelineSpec } from '../../domain/spec/pipeline';
import type { PipelineStatus } from '../../domain/views';
import { describeFinder, FINDER_SYMBOLS } from '../../render/finders';
import type { View } from '../../render/paint';
import { describeWait, groupWords, isGroupBusy } from '../../render/pipeline';
import { blackoutWords, windowWords } from '../../render/plan';
import { More, Section, Table } from '../parts/section';
import { IdLink, StateMark, Prose } from '../parts/text';
import { MOST_ROWS } from './rows';

/** Why nothing moves: waits, finders that are down, and closed windows. */

interface StatusProps {
  readonly pipeline: PipelineStatus;
  readonly view: View;
}

/** The queue, and the exclusion groups that are held. */
export function Waits({ pipeline, view }: StatusProps) {
  const { waits = [], groups = [] } = pipeline;
  const busy = groups.filter(isGroupBusy);
  if (waits.length + busy.length === 0) return null;
  return (
    <Section id="waiting" title="Waiting">
      <Table
        caption="Releases and actions that wait"
        headings={['Release', 'Waits']}
        rows={waits.slice(0, MOST_ROWS).map((wait) => {
          const { id, words } = describeWait(pipeline, wait, view);
          return [<IdLink id={id} />, <Prose text={words} />];
        })}
      />
      <More count={waits.length - MOST_ROWS} noun="waits" />
      <Table
        caption="Exclusion groups"
        headings={['Exclusion', 'Scope', 'Holder', 'Queue']}
        rows={busy.map((group) => [<bdi>{group.name}</bdi>, ...groupWords(group)])}
      />
    </Section>
  );
}

/** The finders of its inputs: one that is down explains why nothing new arrives. */
export function FinderTable({ pipeline, view }: StatusProps) {
  const { finders = [] } = pipeline;
  return finders.length === 0 ? null : (
    <Section id="finders" title="Finders">
      <Table
        caption="Finders of its inputs"
        headings={['Finder', 'State', 'Last answer']}
        rows={finders.map((finder) => [
          <bdi>{finder.id}</bdi>,
          <StateMark sign={FINDER_SYMBOLS[finder.state]} word={finder.state} />,
          <Prose text={describeFinder(finder, view)} />,
        ])}
      />
    </Section>
  );
}

/** When its actions may begin, as its file has it; each in the zone of its window. */
export function Windows({ spec }: { readonly spec: PipelineSpec | null }) {
  const rows = Object.entries(spec?.actions ?? {}).flatMap(([name, { window = [], blackouts = [] }]) =>
    [...windowWords({ windows: [window].flat() }), ...blackoutWords({ blackouts })].map((words) => ({ name, words })),
  );
  return rows.length === 0 ? null : (
    <Section id="windows" title="Windows">
      <Table
        caption="Windows and blackouts"
        headings={['Action', 'When']}
        rows={rows.slice(0, MOST_ROWS * 2).map(({ name, words }) => [<bdi>{name}</bdi>, <Prose text={words} />])}
      />
    </Section>
  );
}
