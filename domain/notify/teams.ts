import type { Format, ReceiverFacts } from './format';
import type { Notice, NoticeOn } from './notice';
import { cutHeadline, cutLine, listNoticeFacts } from './words';

/**
 * An adaptive card for the Workflows webhook of a channel in Microsoft Teams. Texts are in `TextRun`s, which Teams shows as they are: a `TextBlock`
 * would make links and emphasis of them.
 */
export const teams: Format = {
  contentType: 'application/json',
  hosts: /(^|\.)(logic\.azure\.com|environment\.api\.powerplatform\.com)$/,
  body: teamsMessage,
};

const HEADLINE_LENGTH = 2_000;
const FACT_LENGTH = 1_000;

function teamsMessage(notice: Notice, { link = null }: ReceiverFacts = {}): object {
  const facts = listNoticeFacts(notice).map(([name, value]) => `${name}: ${cutLine(value, FACT_LENGTH)}`);
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      { type: 'Container', style: STYLES[notice.on], items: [textRow(cutHeadline(notice, HEADLINE_LENGTH), 'bolder')] },
      ...facts.map((fact) => textRow(fact, 'default')),
    ],
    actions: link === null ? [] : [{ type: 'Action.OpenUrl', title: 'Open in Conveyor', url: link }],
  };
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
  };
}

const textRow = (text: string, weight: 'default' | 'bolder'): object => ({
  type: 'RichTextBlock',
  inlines: [{ type: 'TextRun', text, weight }],
});

const STYLES: Readonly<Record<NoticeOn, 'good' | 'warning' | 'attention' | 'default'>> = {
  succeeded: 'good',
  paused: 'warning',
  reverted: 'attention',
  failed: 'attention',
  cancelled: 'default',
  expired: 'warning',
  'offer-broken': 'attention',
  'on-call': 'attention',
  answered: 'default',
  settled: 'good',
};
