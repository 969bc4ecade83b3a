import { releaseId } from '../../domain/ids';
import { dependencies } from '../../domain/release/graph';
import type { PipelineSpec } from '../../domain/spec/pipeline';
import type { View } from '../../render/paint';
import { ACTION_SYMBOLS } from '../../render/words';
import { ActionGraph, type DrawnAction } from '../graph/graph';
import type { PipelineModel } from '../models';
import { Releases, toDrawnActions } from '../parts/releases';
import { More, Section } from '../parts/section';
import { Command, IdLink } from '../parts/text';
import { MOST_ROWS } from './rows';

interface ModelProps {
  readonly model: PipelineModel;
  readonly view: View;
}

/** The graph of its actions, with the newest release in it. */
export function GraphSection({ model, view }: ModelProps) {
  const { newest, deploys, spec, pipeline, stale } = model;
  const number = Math.max(0, ...pipeline.releases.map((release) => release.number));
  const release = newest.find((one) => one.number === number);
  if (stale !== null || (number === 0 && spec === null)) return null;
  if (number > 0 && release === undefined)
    return (
      <Section id="graph" title="Graph">
        <p class="empty">
          <IdLink id={releaseId(pipeline.id, number)} /> did not answer in time; reload the page to see its graph.
        </p>
      </Section>
    );
  const note =
    release === undefined ? (
      'No release has begun.'
    ) : (
      <>
        With the newest release, <IdLink id={release.id} />
      </>
    );
  const actions = release === undefined ? drawSpec(spec) : toDrawnActions({ release, deploys, view });
  return (
    <Section id="graph" title="Graph" note={note}>
      <ActionGraph actions={actions} label={`Graph of ${release?.id ?? pipeline.id}`} />
    </Section>
  );
}

/** The actions of a file that no release has run. */
function drawSpec(spec: PipelineSpec | null): readonly DrawnAction[] {
  const needs = dependencies(spec?.actions ?? {});
  return Object.entries(spec?.actions ?? {}).map(([name, { type }]) => ({
    ...{ name, needs: needs.get(name) ?? [], state: 'not yet', note: type, deploy: null },
    sign: ACTION_SYMBOLS.waiting,
  }));
}

/** Its releases, with how each spent its time. */
export function ReleasesSection({ model, view }: ModelProps) {
  const { pipeline, newest, deploys } = model;
  const sorted = [...pipeline.releases].sort((a, b) => b.number - a.number);
  const shown = sorted.slice(0, MOST_ROWS);
  return (
    <Section id="releases" title="Releases">
      {shown.length === 0 ? (
        <p class="empty">
          No release yet. <Command text={`conveyor release ${pipeline.id} --artifact NAME=VERSION --wait`} />
        </p>
      ) : (
        <ul class="legend">
          {['build', 'test', 'deploy', 'update', 'bake', 'revert', 'other', 'wait'].map((kind) => (
            <li>
              <svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
                <rect class={`part-${kind}`} width="10" height="10" />
              </svg>{' '}
              {kind}
            </li>
          ))}
        </ul>
      )}
      <Releases caption={`Releases of ${pipeline.id}`} releases={shown} statuses={newest} {...{ deploys, view }} />
      <More count={sorted.length - shown.length} noun="releases" />
      <p class="note">
        Earlier ones: <Command text={`conveyor history ${pipeline.id}`} />
      </p>
    </Section>
  );
}
