"""What endpoints and pages stand on: authentication, bodies, errors, limits and responses."""

from app.web.languages import validation_messages

validation_messages.register()  # here, because validators read their messages when a schema is defined
