import { describeFaults } from './faultStories';
import { HOUR } from './world';

describeFaults('when every method, from its first call on, is down for an hour', {
  trouble: { mode: 'down', forMs: HOUR },
  lasts: true,
});
