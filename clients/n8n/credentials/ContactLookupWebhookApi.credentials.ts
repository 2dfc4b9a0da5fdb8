import type { Icon, ICredentialType, INodeProperties } from "n8n-workflow";

/** The secret that signs what an endpoint receives. */
export class ContactLookupWebhookApi implements ICredentialType {
  name = "contactLookupWebhookApi";

  displayName = "Contact Lookup Webhook API";

  icon: Icon = { light: "file:../icons/contact-lookup.svg", dark: "file:../icons/contact-lookup.dark.svg" };

  documentationUrl = "https://github.com/contact-lookup/contact-lookup#readme";

  properties: INodeProperties[] = [
    {
      displayName: "Secret",
      name: "secret",
      type: "string",
      typeOptions: { password: true },
      default: "",
      placeholder: "whsec_…",
      description: "The secret of the endpoint, which the page /webhooks shows to admins",
      required: true,
    },
  ];
}
