import type { PipelineStatus } from '../../domain/views';
import { describeOffer } from '../../domain/offers/judge';
import { listWaysOut, offerStateText } from '../../render/offers';
import { paint, type View } from '../../render/paint';
import { describeBehind, getRunningVersion, goodWords, usersText } from '../../render/pipeline';
import { More, Section, Table } from '../parts/section';
import { ClockTime, Command, TimeAgo, Prose } from '../parts/text';
import { MOST_ROWS } from './rows';

/** Versions in production, offers, and artifacts that are never deployed again. */

interface StatusProps {
  readonly pipeline: PipelineStatus;
  readonly view: View;
}

/** The versions in production, and the units that are not on them. */
export function Production({ pipeline }: Pick<StatusProps, 'pipeline'>) {
  const { behind = [] } = pipeline;
  const good = Object.entries(pipeline.lastGood);
  return (
    <Section id="production" title="In production">
      <Table
        caption="Versions in production"
        headings={['Action', 'Version', 'Since']}
        rows={good.map(([action, last]) => [
          <bdi>{action}</bdi>,
          <bdi>{getRunningVersion(last)}</bdi>,
          <Prose text={goodWords(last)} />,
        ])}
        empty="Nothing has been deployed yet."
      />
      <Table
        caption="Units left behind"
        headings={['Left behind', 'State', 'Why', 'Command']}
        rows={behind.slice(0, MOST_ROWS).map((one) => {
          const { units, state, why } = describeBehind(one);
          return [<bdi>{units}</bdi>, <bdi>{state}</bdi>, why, <Command text={one.bring} />];
        })}
      />
    </Section>
  );
}

const MOST_USERS = 10;

/** Its offers to others, and the broken offers of others that it uses. */
export function Offers({ pipeline, view }: StatusProps) {
  const { id, offers = [], brokenUses = [] } = pipeline;
  if (offers.length + brokenUses.length === 0) return null;
  return (
    <Section id="offers" title="Offers and wishes">
      <Table
        caption={`Offers of ${id}`}
        headings={['Offer', 'State', 'Users']}
        rows={offers.map((offer) => [
          <bdi>{describeOffer(offer)}</bdi>,
          offerStateText(offer, view, paint(false)),
          <Prose text={usersText(offer, MOST_USERS)} />,
        ])}
      />
      {listWaysOut(id, offers).map((way) => (
        <p>
          <Prose text={way} />
        </p>
      ))}
      {brokenUses.map(({ why }) => (
        <p class="bad">
          ✖ At risk: <Prose text={why} />
        </p>
      ))}
    </Section>
  );
}

/** Artifacts that are known-bad, and those that came late. */
export function Bad({ pipeline, view }: StatusProps) {
  const { knownBad, late = [] } = pipeline;
  if (knownBad.length + late.length === 0) return null;
  return (
    <Section id="bad" title="Known bad">
      <Table
        caption="Artifacts that are never deployed again until a person allows them"
        headings={['Artifact', 'Since', 'Reason', 'Command']}
        rows={knownBad.slice(0, MOST_ROWS).map(({ artifact, at, reason }) => [
          <span class="bad">
            ✖ <bdi>{artifact}</bdi>
          </span>,
          <ClockTime iso={at} view={view} />,
          <Prose text={reason} />,
          <Command text={`conveyor allow-artifact ${pipeline.id} ${artifact.replace(/#.*$/, '')} --reason "…"`} />,
        ])}
      />
      <More count={knownBad.length - MOST_ROWS} noun="artifacts" />
      <Table
        caption="Artifacts that arrived after a newer one, and started no release"
        headings={['Late artifact', 'Arrived', 'Behind']}
        rows={late
          .slice(0, MOST_ROWS)
          .map(({ artifact, at, behind }) => [
            <bdi>{artifact}</bdi>,
            <TimeAgo iso={at} view={view} />,
            <bdi>{behind}</bdi>,
          ])}
      />
    </Section>
  );
}
